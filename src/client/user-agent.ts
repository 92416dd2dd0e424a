/** The `User-Agent` header, by which audit logs and API Priority and Fairness tell clients apart. */
import { version as ownVersion } from '../api/version.ts'

const platform = `${process.platform}/${process.arch}`

/** `proreus/0.1.0 (linux/x64)`, for a client that belongs to no operator. */
export function defaultUserAgent(): string {
  return `proreus/${ownVersion} (${platform})`
}

/**
 * `NAME/VERSION (linux/x64) proreus/0.1.0`, in the form of client-go (`rest.DefaultKubernetesUserAgent`), which writes `unknown` for a
 * version that it does not know as well.
 */
export function userAgentOf({ name, version = 'unknown' }: { readonly name: string; readonly version?: string | undefined }): string {
  return `${name}/${version} (${platform}) proreus/${ownVersion}`
}
