"""The platform that these files were served by. The server writes its own URL here."""

BASE_URL = "http://127.0.0.1:8081"
VERSION = "1.0.0"
