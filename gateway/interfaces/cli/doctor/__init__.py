"""The command of the doctor: its options and its report."""
