/** Which versions and cipher suites of TLS are accepted. */
import { ProreusError } from '../api/errors.ts'

/** As Go's `--tls-min-version` names them. */
export const tlsVersions = { VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' } as const
export type TlsVersion = keyof typeof tlsVersions

/** The suites of TLS 1.2 with forward secrecy and authenticated encryption, by their names of IANA, which Go uses, and those of OpenSSL. */
const suites: ReadonlyMap<string, string> = new Map([
  ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-CHACHA20-POLY1305'],
])
/** Those of TLS 1.3 are all good, and as in Go not to be chosen from. */
const suitesOf13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']

export const tlsCipherSuites: readonly string[] = [...suites.keys()]

export interface TlsOptions {
  /** Default `VersionTLS12`. */
  readonly tlsMinVersion?: TlsVersion
  /** Those of TLS 1.2, by the names that Go uses. Default: all of `tlsCipherSuites`; no others are known. */
  readonly tlsCipherSuites?: readonly string[]
}

/** Options of `node:tls`, to be named whenever a context is made: what is not named is at Node's default. */
export interface TlsLimits {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  readonly ciphers: string
  readonly honorCipherOrder: true
}

/** @throws {ProreusError} `PRO_CONFIG_INVALID` for a version or a suite that is not known. */
export function tlsLimits({ tlsMinVersion = 'VersionTLS12', tlsCipherSuites: chosen = tlsCipherSuites }: TlsOptions = {}): TlsLimits {
  const minVersion = Object.hasOwn(tlsVersions, tlsMinVersion) ? tlsVersions[tlsMinVersion] : undefined
  if (minVersion === undefined) {
    const known = Object.keys(tlsVersions).join(' or ')
    throw new ProreusError('PRO_CONFIG_INVALID', `--tls-min-version is "${tlsMinVersion}": it must be ${known}.`)
  }
  const names = chosen.map((suite) => {
    const name = suites.get(suite)
    if (name !== undefined) return name
    const known = [...suites.keys()].join(', ')
    throw new ProreusError('PRO_CONFIG_INVALID', `--tls-cipher-suites names "${suite}", which is not accepted: choose from ${known}.`)
  })
  return { minVersion, ciphers: [...suitesOf13, ...names].join(':'), honorCipherOrder: true }
}
