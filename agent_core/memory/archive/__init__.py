"""What is remembered outside of the prompt, and what there is to be searched."""
