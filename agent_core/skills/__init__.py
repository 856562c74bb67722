"""Skills: instructions for recurring work, bundled with Talaria or in the home folder."""
