"""Each published table again, beside the figures of the paper."""
