# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulate hostile receivers: endless or invalid replies, and wrong certificates."""
import os
import socket
import ssl
import subprocess
import threading
import time


def authority(folder):
	"""Create a certificate authority in FOLDER. Return the path of its certificate."""
	subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
			"-keyout", f"{folder}/ca.key", "-out", f"{folder}/ca.pem", "-days", "2", "-subj", "/CN=test"],
		       check=True, stderr=subprocess.DEVNULL)
	return f"{folder}/ca.pem"


def certificate(folder, name, subject, days):
	"""Create a certificate of the authority in FOLDER for SUBJECT ("IP:127.0.0.1"), valid for
	DAYS. Return a TLS context with the certificate."""
	key, asked, made = (f"{folder}/{name}.{end}" for end in ("key", "csr", "pem"))
	with open(f"{folder}/{name}.ext", "w", encoding="ascii") as file:
		file.write(f"subjectAltName={subject}\n")
	subprocess.run(["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
			"-out", asked, "-subj", f"/CN={name}"], check=True, stderr=subprocess.DEVNULL)
	subprocess.run(["openssl", "x509", "-req", "-in", asked, "-CA", f"{folder}/ca.pem", "-CAkey", f"{folder}/ca.key",
			"-set_serial", str(abs(hash(name)) % 10**9 + 1), "-out", made, "-extfile", f"{folder}/{name}.ext",
			"-days", str(days)], check=True, stderr=subprocess.DEVNULL)
	context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
	context.load_cert_chain(made, key)
	return context


def endless_body(connection):
	connection.sendall(b"HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n")
	while True:
		connection.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")


def endless_headers(connection):
	connection.sendall(b"HTTP/1.1 503 Busy\r\n")
	while True:
		connection.sendall(b"X-More: " + b"y" * 1000 + b"\r\n")


def malformed(connection):
	connection.sendall(bytes(range(256)) * 64)


def trickle(connection):
	for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"z" * 100000:
		connection.sendall(bytes([byte]))
		time.sleep(0.05)


def fine(connection):
	connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


class Hostile:
	"""Answer each connection with ANSWER after its first bytes, over TLS if there is a CONTEXT."""

	def __init__(self, answer, context=None):
		self.answer, self.context = answer, context
		self.received = 0
		self.listener = socket.create_server(("127.0.0.1", 0))
		port = self.listener.getsockname()[1]
		self.url = f"http{'s' if context else ''}://127.0.0.1:{port}/push"
		threading.Thread(target=self.run, daemon=True).start()

	def run(self):
		while True:
			try:
				connection, _ = self.listener.accept()
			except OSError:
				return
			threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

	def serve(self, connection):
		try:
			connection.settimeout(20)
			if self.context:
				connection = self.context.wrap_socket(connection, server_side=True)
			self.received += len(connection.recv(65536))
			self.answer(connection)
		except OSError:
			pass
		finally:
			connection.close()

	def close(self):
		# shutdown() wakes accept().
		self.listener.shutdown(socket.SHUT_RDWR)
		self.listener.close()


def hostile_receivers(folder):
	"""Return receivers that misbehave: {name: (receiver, text expected in the log or None, settings of the
	exporter)}. Those with TLS use certificates that this function creates in FOLDER."""
	plain = {
		"endless body": (endless_body, "status 503"),
		"endless headers": (endless_headers, "status 503"),
		"malformed": (malformed, "HTTP/0.9"),
		"trickle": (trickle, "timed out"),
	}
	# Only requests with the endless answer may time out.
	patient = ("Push.TimeoutSec=60",)
	found = {name: (Hostile(answer), says, () if answer == trickle else patient) for name, (answer, says) in plain.items()}
	os.makedirs(folder, exist_ok=True)
	trusted = (*patient, f"Push.CACertificates={authority(folder)}")
	theirs = certificate(folder, "theirs", "IP:127.0.0.1", 2)
	found["self-signed"] = (Hostile(fine, theirs), "signed by an authority that is not trusted here", patient)
	found["expired"] = (Hostile(fine, certificate(folder, "expired", "IP:127.0.0.1", -1)), "has expired", trusted)
	found["wrong host"] = (Hostile(fine, certificate(folder, "other", "DNS:other.example", 2)), "does not match", trusted)
	found["fine"] = (Hostile(fine, theirs), None, trusted)
	return found
