"""What comes along with messages: pictures, voices and documents, made fit for a model."""
