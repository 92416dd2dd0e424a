/** `clientAs`: creates a named client over a shared transport, so all clients of a process use the same connections. */
import type { ApiRequest } from './api-request.ts'
import { clientOver } from './client.ts'
import type { Client } from './client.ts'
import type { Impersonation } from './impersonation.ts'
import type { Transport } from './transport.ts'
import { userAgentOf } from './user-agent.ts'

/** The identity of a client. Its field manager is `name`, and its user agent contains `name` and `version`. */
export interface ClientIdentity {
  readonly name: string
  /** The version in the user agent; `unknown` when absent. */
  readonly version?: string | undefined
}

/** Properties that a client adds to each of its requests. */
export interface ClientAsOptions {
  /**
   * Called for each attempt of a request, immediately before the request is written to a connection. When the guard throws, the request is
   * not sent, and the promise of the request rejects with the thrown error. The guard of leader election throws while this process is not
   * the leader.
   */
  readonly guard?: (() => void) | undefined
  /** Time limit of one attempt in milliseconds, instead of the limit of the transport. */
  readonly timeoutMs?: number | undefined
  /** The user that the client impersonates in its requests. */
  readonly impersonate?: Impersonation | undefined
}

/**
 * Returns a client with the user agent and field manager of `identity`. The client's `close` has no effect, because other clients use the
 * same transport.
 */
export function clientAs(transport: Transport, identity: ClientIdentity, { guard, timeoutMs, impersonate }: ClientAsOptions = {}): Client {
  const userAgent = userAgentOf(identity)
  const extended = (request: ApiRequest): ApiRequest => ({
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...request,
    userAgent,
    ...(guard && { guard }),
  })
  const named: Transport = {
    request: (request) => transport.request(extended(request)),
    stream: (request) => transport.stream(extended(request)),
    close: () => Promise.resolve(),
  }
  return clientOver(named, { fieldManager: identity.name, impersonate })
}
