/** Requests that change the protocol of their connection: WebSocket and SPDY/3.1. */
import { failure } from '../../../api/status.ts'
import { StatusError, badRequest } from '../../apimachinery/status-error.ts'
import type { Exchange, UpgradedConnection } from '../exchange.ts'

export interface RequestedUpgrade extends UpgradedConnection {
  readonly protocol: 'websocket' | 'spdy'
}

/**
 * Matches the URL of a request that is allowed to change the protocol of its connection. For all other URLs, the server ignores the header
 * `Upgrade`.
 */
export const upgradeUrl = /^\/api\/v1\/namespaces\/[^/?]+\/pods\/[^/?]+\/(?:attach|exec|portforward)\/?(?:\?|$)/

/**
 * Returns the protocol that the client requests.
 *
 * @throws {StatusError} 400 when the client does not request an upgrade to WebSocket or SPDY/3.1
 */
export function requestedUpgrade({ request, upgrade }: Exchange): RequestedUpgrade {
  // In Kubernetes, `UpgradeAwareHandler` makes the same check (k8s.io/apimachinery/pkg/util/proxy).
  if (upgrade === undefined) throw badRequest('Upgrade request required')
  const requested = (request.headers.upgrade ?? '').toLowerCase()
  if (requested === 'websocket') return { ...upgrade, protocol: 'websocket' }
  if (requested.includes('spdy/3.1')) return { ...upgrade, protocol: 'spdy' }
  throw badRequest(`unable to upgrade: the protocol ${JSON.stringify(requested)} is not supported; use WebSocket or SPDY/3.1`)
}

/** Returns the values of a header that is a list. The values have the order in which the client has sent them. */
export function headerValues({ request }: Exchange, name: string): string[] {
  return (request.headersDistinct[name] ?? [])
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '')
}

/**
 * Returns the first version in `offered` that `accepted` also contains (k8s.io/streaming/pkg/httpstream: Handshake).
 *
 * @param offered the versions of the client, in the client's order
 * @throws {StatusError} 403 when the server supports none of the versions
 */
export function negotiated(offered: readonly string[], accepted: readonly string[]): string {
  const chosen = offered.find((version) => accepted.includes(version))
  if (chosen !== undefined) return chosen
  const text = `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(' ')}], server accepts [${accepted.join(' ')}]`
  throw new StatusError(failure(403, 'Forbidden', text, {}))
}
