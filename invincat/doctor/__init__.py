"""Whether everything here is as it should be, and setting right what is not."""
