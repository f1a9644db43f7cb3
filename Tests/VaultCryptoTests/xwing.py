"""X-Wing (draft-connolly-cfrg-xwing-kem-06) a second time: kyber-py's ML-KEM-768, and X25519 as RFC 7748 writes it down.

    xwing.py vectors FILE      makes the draft's vectors again; prints how many
    xwing.py agree             reads lines of hex "seed, public key, encapsulated"; prints for each, in hex: the public key
                               of the seed, the secret in `encapsulated`, then a secret and what it sent to the public key
"""

import hashlib
import json
import sys

from kyber_py.ml_kem import ML_KEM_768

PRIME = 2**255 - 19
BASE = (9).to_bytes(32, "little")


def x25519(scalar, point):
    k = (int.from_bytes(scalar, "little") & ((1 << 255) - 8)) % (1 << 254) | (1 << 254)
    u = int.from_bytes(point, "little") & ((1 << 255) - 1)
    x2, z2, x3, z3, swap = 1, 0, u, 1, 0
    for position in reversed(range(255)):
        bit = k >> position & 1
        if swap != bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % PRIME, b * b % PRIME, d * a % PRIME, c * b % PRIME
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % PRIME, u * (da - cb) ** 2 % PRIME
        x2, z2 = aa * bb % PRIME, e * (aa + 121665 * e) % PRIME
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, PRIME - 2, PRIME) % PRIME).to_bytes(32, "little")


def combine(lattice_secret, curve_secret, curve_sent, curve_key):
    label = b"\\.//^\\"
    return hashlib.sha3_256(lattice_secret + curve_secret + curve_sent + curve_key + label).digest()


class PrivateKey:
    def __init__(self, seed):
        expanded = hashlib.shake_256(seed).digest(96)
        lattice, self.lattice = ML_KEM_768._keygen_internal(expanded[:32], expanded[32:64])
        self.curve = expanded[64:]
        self.curve_key = x25519(self.curve, BASE)
        self.public = lattice + self.curve_key

    def secret(self, sent):
        curve = x25519(self.curve, sent[1088:])
        return combine(ML_KEM_768.decaps(self.lattice, sent[:1088]), curve, sent[1088:], self.curve_key)


def encapsulate(public, entropy):
    lattice, curve_key = public[:1184], public[1184:]
    secret, sent = ML_KEM_768._encaps_internal(lattice, entropy[:32])
    curve_sent = x25519(entropy[32:], BASE)
    return combine(secret, x25519(entropy[32:], curve_key), curve_sent, curve_key), sent + curve_sent


def vectors(path):
    with open(path) as file:
        cases = [{name: bytes.fromhex(text) for name, text in case.items()} for case in json.load(file)]
    for case in cases:
        key = PrivateKey(case["seed"])
        assert key.public == case["pk"]
        assert encapsulate(key.public, case["eseed"]) == (case["ss"], case["ct"])
        assert key.secret(case["ct"]) == case["ss"]
    print(len(cases))


def agree():
    for number, line in enumerate(sys.stdin):
        seed, public, sent = (bytes.fromhex(text) for text in line.split())
        key = PrivateKey(seed)
        entropy = hashlib.sha512(b"entropy" + number.to_bytes(4, "big") + public).digest()
        print(*(part.hex() for part in (key.public, key.secret(sent), *encapsulate(public, entropy))))


if sys.argv[1] == "vectors":
    vectors(sys.argv[2])
else:
    agree()
