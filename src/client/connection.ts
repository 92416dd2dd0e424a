/** `Connection`: the address and credentials for an API server. */

/** Address and credentials in the form to which a kubeconfig, a Pod's service account and an embedded API server are converted. */
export interface Connection {
  /** `https://host:port`, optionally with a path prefix. */
  readonly server: string
  /** Trusted certificates as PEM; each is a trust anchor, self-signed or not (see `trust`). Default: the certificates of the system. */
  readonly ca?: string
  readonly insecureSkipTlsVerify?: boolean
  /** The name that the server's certificate must have, if it is not the host of `server`. */
  readonly serverName?: string
  /** `http://`, `https://` or `socks5://`. */
  readonly proxyUrl?: string
  /** The namespace of the kubeconfig's context or of the Pod. */
  readonly namespace?: string
  /**
   * Returns the `Authorization` header. It is called for each request, because tokens rotate and exec plugins return new ones. `refused` is
   * a header for which the server has just answered 401; it must not be returned from a cache again.
   */
  readonly authorization?: (refused?: string) => Promise<string | undefined>
  /** Further headers of each request, for impersonation. */
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** Returns the client certificate; called for each request. When it changes, new connections are opened. */
  readonly tls?: () => Promise<{ readonly cert?: string; readonly key?: string }>
  /** True for the API server of the cluster that this process runs in. */
  readonly inCluster?: boolean
  /** The source of the connection in error messages: `kubeconfig /path, context x`. */
  readonly describe: string
}
