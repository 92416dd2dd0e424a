/** `clientAs`: creates a named client over a shared transport, so all clients of a process use the same connections. */
import { clientOver } from './client.ts'
import type { Client } from './client.ts'
import type { Transport } from './transport.ts'
import { userAgentOf } from './user-agent.ts'

/** The identity of a client. Its field manager is `name`. Its user agent contains `name` and `version`. */
export interface ClientIdentity {
  readonly name: string
  /** The version in the user agent; `unknown` when absent. */
  readonly version?: string | undefined
}

/**
 * Returns a client with the user agent and field manager of `identity`. The client's `close` has no effect, because other clients use the
 * same transport.
 */
export function clientAs(transport: Transport, identity: ClientIdentity): Client {
  const userAgent = userAgentOf(identity)
  const named: Transport = {
    request: (request) => transport.request({ ...request, userAgent }),
    stream: (request) => transport.stream({ ...request, userAgent }),
    close: () => Promise.resolve(),
  }
  return clientOver(named, { fieldManager: identity.name })
}
