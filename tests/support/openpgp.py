"""Makes a key that is thrown away, and signs with it as gpg does: for machines that have no gpg.

Usage: openpgp.py DIRECTORY new                 makes an RSA key there, and public.asc; prints the key's id
       openpgp.py DIRECTORY --batch ... as gpg  the options that scripts/package.py gives to gpg, and no others

The format is that of RFC 4880: a key packet, a user's name, and signatures of version 4 with SHA-256.
"""

import argparse
import base64
import hashlib
import pathlib
import struct
import sys

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

RSA, SHA256 = 1, 8
OF_A_FILE, OF_A_NAME = 0x00, 0x13
SIGNATURE, PUBLIC_KEY, NAME = 2, 6, 13
# Of the key and of what it signs; any time in the past does.
MADE = 1704067200
OWNER = b"A test of terraform-provider-fgw <test@fgw.invalid>"


def packet(tag, body):
    return bytes([0xC0 | tag, 0xFF]) + struct.pack(">I", len(body)) + body


def number(value):
    bits = value.bit_length()
    return struct.pack(">H", bits) + value.to_bytes((bits + 7) // 8, "big")


def note(kind, body):
    """One of the notes that are signed with the data."""
    return bytes([len(body) + 1, kind]) + body


class Key:
    def __init__(self, private):
        self.private = private
        public = private.public_key().public_numbers()
        self.body = struct.pack(">BIB", 4, MADE, RSA) + number(public.n) + number(public.e)
        self.framed = b"\x99" + struct.pack(">H", len(self.body)) + self.body
        self.fingerprint = hashlib.sha1(self.framed).digest()
        self.id = self.fingerprint[-8:].hex().upper()

    def signature(self, kind, data, notes=b""):
        notes = note(33, b"\x04" + self.fingerprint) + note(2, struct.pack(">I", MADE)) + notes
        head = struct.pack(">BBBBH", 4, kind, RSA, SHA256, len(notes)) + notes
        signed = data + head + b"\x04\xff" + struct.pack(">I", len(head))
        value = int.from_bytes(self.private.sign(signed, padding.PKCS1v15(), hashes.SHA256()), "big")
        unsigned = note(16, self.fingerprint[-8:])
        begins = hashlib.sha256(signed).digest()[:2]
        return packet(SIGNATURE, head + struct.pack(">H", len(unsigned)) + unsigned + begins + number(value))

    def public(self):
        """What users of the key are given: key, name, and the key's word that the name is its own."""
        may_sign = note(27, b"\x03")
        of_name = self.signature(OF_A_NAME, self.framed + b"\xb4" + struct.pack(">I", len(OWNER)) + OWNER, may_sign)
        return armoured(packet(PUBLIC_KEY, self.body) + packet(NAME, OWNER) + of_name)


def armoured(data):
    check = 0xB704CE
    for byte in data:
        check ^= byte << 16
        for _ in range(8):
            check = check << 1 ^ (0x1864CFB if check & 0x800000 else 0)
    lines = base64.encodebytes(data).decode()
    check = base64.b64encode(check.to_bytes(3, "big")).decode()
    return f"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{lines}={check}\n-----END PGP PUBLIC KEY BLOCK-----\n"


def main():
    directory, arguments = pathlib.Path(sys.argv[1]), sys.argv[2:]
    stored = directory / "key.pem"
    if arguments == ["new"]:
        private = rsa.generate_private_key(65537, 2048)
        pem, pkcs8, plain = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        stored.write_bytes(private.private_bytes(pem, pkcs8, plain))
        (directory / "public.asc").write_text(Key(private).public())
        print(Key(private).id)
        return
    key = Key(serialization.load_pem_private_key(stored.read_bytes(), None))
    options = argparse.ArgumentParser()
    for flag in ["--batch", "--yes", "--with-colons"]:
        options.add_argument(flag, action="store_true")
    for name in ["--local-user", "--list-keys", "--output", "--detach-sign"]:
        options.add_argument(name)
    asked = options.parse_args(arguments)
    if key.id not in (asked.local_user, asked.list_keys):
        sys.exit(f"no other key is here than {key.id}")
    if asked.detach_sign:
        content = pathlib.Path(asked.detach_sign).read_bytes()
        pathlib.Path(asked.output).write_bytes(key.signature(OF_A_FILE, content))
    else:
        print(f"pub:u:2048:{RSA}:{key.id}:{MADE}:::u:::scSC:")


main()
