"""What a scenario does to a stream, as a picture: the embedded origin asked twice, straight and through the proxy."""
