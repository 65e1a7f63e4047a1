"""Generates a throwaway key and signs with it like gpg, for machines without gpg.

Usage: openpgp.py DIRECTORY new             generates an RSA key and public.asc there; prints the key ID
       openpgp.py DIRECTORY --batch ...     accepts the gpg options that scripts/package.py uses, and no others

The format is RFC 4880: a public-key packet, a user ID packet, and version 4 signatures with SHA-256.
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
OF_FILE, OF_USER_ID = 0x00, 0x13
SIGNATURE, PUBLIC_KEY, USER_ID = 2, 6, 13
# The creation time of the key and of its signatures, in Unix seconds. Any time in the past will do.
CREATED = 1704067200
OWNER = b"A test of terraform-provider-fgw <test@fgw.invalid>"


def packet(tag, body):
    return bytes([0xC0 | tag, 0xFF]) + struct.pack(">I", len(body)) + body


def number(value):
    bits = value.bit_length()
    return struct.pack(">H", bits) + value.to_bytes((bits + 7) // 8, "big")


def subpacket(kind, body):
    """A subpacket of a signature."""
    return bytes([len(body) + 1, kind]) + body


class Key:
    def __init__(self, private):
        self.private = private
        public = private.public_key().public_numbers()
        self.body = struct.pack(">BIB", 4, CREATED, RSA) + number(public.n) + number(public.e)
        self.framed = b"\x99" + struct.pack(">H", len(self.body)) + self.body
        self.fingerprint = hashlib.sha1(self.framed).digest()
        self.id = self.fingerprint[-8:].hex().upper()

    def signature(self, kind, data, subpackets=b""):
        subpackets = subpacket(33, b"\x04" + self.fingerprint) + subpacket(2, struct.pack(">I", CREATED)) + subpackets
        head = struct.pack(">BBBBH", 4, kind, RSA, SHA256, len(subpackets)) + subpackets
        signed = data + head + b"\x04\xff" + struct.pack(">I", len(head))
        value = int.from_bytes(self.private.sign(signed, padding.PKCS1v15(), hashes.SHA256()), "big")
        unsigned = subpacket(16, self.fingerprint[-8:])
        begins = hashlib.sha256(signed).digest()[:2]
        return packet(SIGNATURE, head + struct.pack(">H", len(unsigned)) + unsigned + begins + number(value))

    def public(self):
        """The exported public key: the key, the user ID, and the self-signature of the user ID."""
        may_sign = subpacket(27, b"\x03")
        of_user_id = self.signature(OF_USER_ID, self.framed + b"\xb4" + struct.pack(">I", len(OWNER)) + OWNER, may_sign)
        return armored(packet(PUBLIC_KEY, self.body) + packet(USER_ID, OWNER) + of_user_id)


def armored(data):
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
    parsed = options.parse_args(arguments)
    if key.id not in (parsed.local_user, parsed.list_keys):
        sys.exit(f"the only key is {key.id}")
    if parsed.detach_sign:
        content = pathlib.Path(parsed.detach_sign).read_bytes()
        pathlib.Path(parsed.output).write_bytes(key.signature(OF_FILE, content))
    else:
        print(f"pub:u:2048:{RSA}:{key.id}:{CREATED}:::u:::scSC:")


main()
