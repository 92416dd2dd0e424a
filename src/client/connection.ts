/** `Connection`: the address and credentials for an API server. */

/** The common form of a kubeconfig, a Pod's service account and an embedded API server. */
export interface Connection {
  /** `https://host:port`, optionally with a path prefix. */
  readonly server: string
  /** Trusted certificates, PEM; each is an anchor, self-signed or not (see `trust`). Default: those of the system. */
  readonly ca?: string
  readonly insecureSkipTlsVerify?: boolean
  /** The name that the server's certificate must have, if it is not the host of `server`. */
  readonly serverName?: string
  /** `http://`, `https://` or `socks5://`. */
  readonly proxyUrl?: string
  /** The namespace of the context, for commands that use it. */
  readonly namespace?: string
  /**
   * Returns the `Authorization` header; called for each request, so that rotating tokens and exec plugins work. `refused` is a header that
   * the server has just answered with 401, which must not be returned from a cache again.
   */
  readonly authorization?: (refused?: string) => Promise<string | undefined>
  /** Further headers of each request, for impersonation. */
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** Returns the client certificate; called for each request. When it changes, new connections are opened. */
  readonly tls?: () => Promise<{ readonly cert?: string; readonly key?: string }>
  /** True for the API server of the cluster that this process runs in. */
  readonly inCluster?: boolean
  /** For error messages: `kubeconfig /path, context x`. */
  readonly describe: string
}
