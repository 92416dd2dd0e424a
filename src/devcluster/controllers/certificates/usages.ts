/**
 * The X.509 values of the usages in CertificateSigningRequests (k8s.io/kubernetes/pkg/controller/certificates/authority:
 * keyUsagesFromStrings).
 */

/** Bits of the extension keyUsage (RFC 5280 §4.2.1.3). */
const bits: Readonly<Record<string, number>> = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
}

/** OIDs of the extension extKeyUsage, in the order of Go's `x509.ExtKeyUsage`. */
const ids: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
}

export function usageBits(usages: readonly string[]): number[] {
  return [...new Set(usages.flatMap((usage) => bits[usage] ?? []))].sort((a, b) => a - b)
}

export function usageIds(usages: readonly string[]): string[] {
  return [
    ...new Set(
      Object.entries(ids)
        .filter(([usage]) => usages.includes(usage))
        .map(([, id]) => id),
    ),
  ]
}
