/** Creates clients with names of their own over one transport: all clients of a process share its pool of connections. */
import { clientOver } from './client.ts'
import type { Client } from './client.ts'
import type { Transport } from './transport.ts'
import { userAgentOf } from './user-agent.ts'

/** The name of a client: its field manager and, with the version, its user agent. */
export interface ClientIdentity {
  readonly name: string
  /** Default `unknown`. */
  readonly version?: string | undefined
}

/**
 * Returns a client with the name as user agent and field manager. Its `close` has no effect, because the transport belongs to the process.
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
