"""What's known of programs and images: how they start, take signals, drain, and keep their data."""
