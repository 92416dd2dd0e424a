/** The `User-Agent` header of a client. The audit events of the API server contain this header. */
import { version as ownVersion } from '../api/version.ts'

const platform = `${process.platform}/${process.arch}`

/** Returns the user agent of a client that belongs to no operator: `proreus/0.1.0 (linux/x64)`. */
export function defaultUserAgent(): string {
  return `proreus/${ownVersion} (${platform})`
}

/**
 * Returns the user agent of an operator's client: `NAME/VERSION (linux/x64) proreus/0.1.0`. If the version is absent, the user agent
 * contains `unknown`, as in client-go (`rest.DefaultKubernetesUserAgent`).
 */
export function userAgentOf({ name, version = 'unknown' }: { readonly name: string; readonly version?: string | undefined }): string {
  return `${name}/${version} (${platform}) proreus/${ownVersion}`
}
