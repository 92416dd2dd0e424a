/**
 * Creates the clients and the event recorder of each operator in this process. The operator's name is the field manager of the clients, and
 * the source of the recorded Events. The clients of all operators share the connections of the process.
 */
import type { Client } from '../client/client.ts'
import { clientAs } from '../client/client-as.ts'
import type { Transport } from '../client/transport.ts'
import type { EventRecorder, EventRecorderOptions } from '../telemetry/event-recorder.ts'
import { createEventRecorder } from '../telemetry/event-recorder.ts'
import type { Operator } from './operator.ts'

export interface OperatorIdentity {
  /** A client whose field manager is the operator's name, and whose user agent begins with the operator's name and version. */
  readonly client: Client
  /** Like `client`, but its requests are sent only while this replica is the leader. Without leader election, they are always sent. */
  readonly leaderClient: Client
  /** An event recorder whose events have the operator's name as their source. */
  readonly events: EventRecorder & { flush(): Promise<void> }
}

/**
 * Returns the clients and the event recorder of each operator. Each `leaderClient` calls `guard` before each request. While this replica is
 * not the leader, `guard` throws, and the request is not sent. `guard` is undefined without leader election.
 */
export function identitiesOf(
  operators: readonly Operator[],
  transport: Transport,
  { guard, ...options }: Omit<EventRecorderOptions, 'component'> & { readonly guard: (() => void) | undefined },
): ReadonlyMap<Operator, OperatorIdentity> {
  return new Map(
    operators.map((operator) => {
      const client = clientAs(transport, operator)
      const leaderClient = guard === undefined ? client : clientAs(transport, operator, { guard })
      return [operator, { client, leaderClient, events: createEventRecorder(client, { ...options, component: operator.name }) }]
    }),
  )
}
