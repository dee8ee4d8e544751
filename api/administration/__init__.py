"""What an operator or its owner does to an account, from HTTP and the command line alike; every act is audited."""
