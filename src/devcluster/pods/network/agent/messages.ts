/** The messages between Proreus and the agent. Some messages of the agent carry a socket. */
import type { RecordType } from 'dns-packet'
import type { NetworkAddresses } from '../addresses.ts'
import type { DnsAnswer } from '../dns/answer.ts'
import type { ServiceState } from '../services/service-state.ts'
import type { PodLocation } from '../services/usable-endpoints.ts'

/** The first message to the agent. */
export interface StartMessage {
  readonly type: 'start'
  readonly addresses: NetworkAddresses
  /** Random numbers. They determine all random choices of the agent. */
  readonly seed: readonly number[]
}

/** The Services that have changed, and the keys (`NAMESPACE/NAME`) of the Services that have been deleted. */
export interface ServicesMessage {
  readonly type: 'services'
  readonly changed: readonly ServiceState[]
  readonly removed: readonly string[]
}

/**
 * Reports that a Pod runs at an address, or that the network of the Pod has ended. After the end of the network, the agent resets the
 * connections to the address.
 */
export interface PodMessage {
  readonly type: 'pod'
  readonly address: string
  /**
   * The node and the zone of the Pod. The field is absent if the Pod no longer uses the address, for example because the Pod has finished
   * or has been deleted.
   */
  readonly location?: PodLocation
}

/** The ports on which servers of the developer's machine listen. */
export interface HostPortsMessage {
  readonly type: 'hostPorts'
  readonly ports: readonly number[]
}

/** The response to a `resolve` message. */
export interface ResolvedMessage {
  readonly type: 'resolved'
  readonly id: number
  readonly answer: DnsAnswer
}

export type ParentMessage = StartMessage | ServicesMessage | PodMessage | HostPortsMessage | ResolvedMessage

export type AgentMessage =
  /** Sent when the agent listens. */
  | { readonly type: 'ready' }
  /** Sent when the agent could not start. The parent then ends the process of the agent. */
  | { readonly type: 'failed'; readonly reason: string }
  /** A connection to the API server. The message carries the socket of the connection. */
  | { readonly type: 'apiServer' }
  /** A connection to a server of the developer's machine. The message carries the socket of the connection. */
  | { readonly type: 'host'; readonly port: number }
  /** A request to resolve a name outside of the cluster. */
  | { readonly type: 'resolve'; readonly id: number; readonly name: string; readonly recordType: RecordType }
  /** Sent when a port of a Service or of the developer's machine could not be opened. */
  | { readonly type: 'warning'; readonly reason: string }
