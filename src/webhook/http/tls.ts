/** The TLS versions and cipher suites that the webhook server accepts. */
import { ProreusError } from '../../api/errors.ts'

/** The values of the flag `--tls-min-version` of Kubernetes' components, and the corresponding names in Node.js. */
export const tlsVersions = { VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' } as const
export type TlsVersion = keyof typeof tlsVersions

/**
 * The supported cipher suites of TLS 1.2. All of them have forward secrecy and authenticated encryption. The keys are the IANA names, which
 * Go uses; the values are the OpenSSL names.
 */
const suites: ReadonlyMap<string, string> = new Map([
  ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-CHACHA20-POLY1305'],
])
/** The cipher suites of TLS 1.3. All of them are secure and, as in Go, they cannot be configured. */
const suitesOf13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']

export const tlsCipherSuites: readonly string[] = [...suites.keys()]

export interface TlsOptions {
  /** The minimum TLS version. Default `VersionTLS12`. */
  readonly tlsMinVersion?: TlsVersion
  /** The accepted cipher suites of TLS 1.2, by their IANA names. Default: all of `tlsCipherSuites`. No other suites are supported. */
  readonly tlsCipherSuites?: readonly string[]
}

/**
 * TLS options for `node:tls`. Each call of `setSecureContext` needs all of them, because Node.js resets an omitted option to its default.
 */
export interface TlsLimits {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  readonly ciphers: string
  readonly honorCipherOrder: true
}

/**
 * Converts the options to those of `node:tls`.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` for an unknown version or cipher suite.
 */
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
