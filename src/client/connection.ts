/** `Connection`: the address of an API server, and the credentials for it. */
import type { Duplex } from 'node:stream'

/** PEM texts of a TLS connection. */
export interface TlsFiles {
  /** The client certificate. */
  readonly cert?: string
  /** The private key of `cert`. */
  readonly key?: string
  /** The trusted certificates. */
  readonly ca?: string
}

/**
 * The address of an API server and the credentials for it. A kubeconfig, a Pod's service account and an embedded API server are all
 * converted to this form.
 */
export interface Connection {
  /** The URL of the API server: `https://host:port`, optionally with a path prefix. */
  readonly server: string
  /**
   * Trusted certificates as PEM. Each certificate is a trust anchor, even if the certificate is not self-signed (see `trust`). When absent,
   * the certificates of the system are trusted.
   */
  readonly ca?: string
  readonly insecureSkipTlsVerify?: boolean
  /** The name for which the server's certificate must be valid. Default: the host of `server`. */
  readonly serverName?: string
  /** The URL of the proxy: `http://`, `https://`, `socks5://` or `socks5h://`. */
  readonly proxyUrl?: string
  /**
   * For a connection from a kubeconfig, the namespace of the context. For a connection from a Pod's service account, the namespace of the
   * Pod.
   */
  readonly namespace?: string
  /**
   * Returns the `Authorization` header. The client calls this function for each request, because tokens rotate and exec plugins return new
   * tokens. A running exec plugin alone does not keep the Node.js process alive. A request that waits for the header keeps the process
   * alive.
   *
   * @param refused the header that the server has just rejected with 401. If `refused` is given, the function should load a new header,
   *   even if the cache of the function contains `refused`.
   */
  readonly authorization?: (refused?: string) => Promise<string | undefined>
  /** Additional headers of each request, e.g. the headers of impersonation. */
  readonly headers?: Readonly<Record<string, string | string[]>>
  /**
   * Returns the client certificate and its key. Called for each request. When the result differs from the previous result, new connections
   * are opened. A `ca` in the result replaces the `ca` of the connection.
   *
   * @param refused the certificate and the key that the server has just rejected with 401. The function should then load a new certificate,
   *   even if `refused` is in its cache.
   */
  readonly tls?: (refused?: TlsFiles) => Promise<TlsFiles>
  /**
   * Opens a new connection, without TCP and TLS, to an API server that runs in this process (like `Dial` of k8s.io/client-go/rest: Config).
   * If `dial` is present, the options for TLS and for the proxy have no effect.
   */
  readonly dial?: () => Duplex
  /** True when this process runs in a Pod of the API server's cluster and uses the Pod's service account. */
  readonly inCluster?: boolean
  /** The source of the connection, for error messages, e.g. `kubeconfig /path, context x`. */
  readonly describe: string
}
