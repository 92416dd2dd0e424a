/** The accepted versions and cipher suites of TLS. */
import { ProreusError } from '../../api/errors.ts'

/** The values of `--tls-min-version` in Kubernetes' programs. */
export const tlsVersions = { VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' } as const
export type TlsVersion = keyof typeof tlsVersions

/** The cipher suites of TLS 1.2 with forward secrecy and authenticated encryption: OpenSSL's names by the IANA names, which Go uses. */
const suites: ReadonlyMap<string, string> = new Map([
  ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-CHACHA20-POLY1305'],
])
/** The suites of TLS 1.3 are all secure and, as in Go, cannot be configured. */
const suitesOf13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']

export const tlsCipherSuites: readonly string[] = [...suites.keys()]

export interface TlsOptions {
  /** Default `VersionTLS12`. */
  readonly tlsMinVersion?: TlsVersion
  /** Suites of TLS 1.2, by their names in Go. Default: all of `tlsCipherSuites`; no others are supported. */
  readonly tlsCipherSuites?: readonly string[]
}

/** Options of `node:tls`, which must be passed for every secure context: an omitted option is reset to Node's default. */
export interface TlsLimits {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  readonly ciphers: string
  readonly honorCipherOrder: true
}

/** @throws {ProreusError} `PRO_CONFIG_INVALID` for an unknown version or suite. */
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
