"""What `unweave compress` can do: `ways` lists the models by name, and one file each fits tables and pictures."""
