"""The curator's judgement: snapshots, and a model's proposals to merge skills or tidy memory."""
