/** `Connection`: how to reach an API server, and as whom. */

/** Everything that a kubeconfig, a Pod's service account or an embedded API server resolves to. */
export interface Connection {
  /** `https://host:port`, with a path where the API is served below one. */
  readonly server: string
  /** Certificates to trust, PEM: each is enough, a root or not (see `trust`). Without it those of the system. */
  readonly ca?: string
  readonly insecureSkipTlsVerify?: boolean
  /** The name that the server's certificate must have, when it is not the host of `server`. */
  readonly serverName?: string
  /** `http://`, `https://` or `socks5://`. */
  readonly proxyUrl?: string
  /** The namespace of the context, for commands that take one. */
  readonly namespace?: string
  /**
   * The `Authorization` header, asked for with each request, so that rotating tokens and exec plugins work.
   * `refused` is a header that the server has just answered with 401: a cached one must not be given again.
   */
  readonly authorization?: (refused?: string) => Promise<string | undefined>
  /** Further headers of each request: impersonation. */
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** The client certificate, asked for with each request; new connections are made when it changes. */
  readonly tls?: () => Promise<{ readonly cert?: string; readonly key?: string }>
  /** Whether this is the API server of the cluster that this process runs in. */
  readonly inCluster?: boolean
  /** For error messages: `kubeconfig /path, context x`. */
  readonly describe: string
}
