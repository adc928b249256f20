"""The sample service: orders that wait for a bank, and every way of stopping that an app may have."""
