/** Reads the requests to a real API server from its audit log. */
import { readFile } from 'node:fs/promises'
import type { RequestRecord } from '../devcluster/http/handle.ts'

/** Sorts requests by the time at which the server received them. Requests with the same time keep their order. */
export function inOrderOfReceipt(requests: readonly RequestRecord[]): readonly RequestRecord[] {
  return requests.toSorted((a, b) => a.at - b.at)
}

/** An audit policy that records all requests without their bodies. kube-apiserver expects YAML, and JSON is valid YAML. */
export const auditPolicy: string = JSON.stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
})

interface AuditEvent {
  readonly auditID: string
  readonly requestReceivedTimestamp: string
  readonly verb: string
  readonly requestURI: string
  readonly user: { readonly username?: string }
  readonly impersonatedUser?: { readonly username?: string }
  readonly responseStatus?: { readonly code?: number }
  readonly annotations?: Readonly<Record<string, string>>
}

/**
 * Reads an audit log, which has one JSON object per line. Resolves with the requests in the order in which kube-apiserver received them.
 * The order of the log differs, because kube-apiserver logs a watch when its response begins, and any other request when its response is
 * complete.
 */
export async function readAuditLog(path: string): Promise<readonly RequestRecord[]> {
  const text = await readFile(path, 'utf8')
  const records = new Map<string, RequestRecord>()
  // The last line is ignored, because kube-apiserver may still be writing it.
  for (const line of text.split('\n').slice(0, -1)) {
    const event = JSON.parse(line) as AuditEvent
    if (records.has(event.auditID)) continue
    const [requestPath, ...query] = event.requestURI.split('?')
    records.set(event.auditID, {
      at: Date.parse(event.requestReceivedTimestamp),
      verb: event.verb,
      user: event.impersonatedUser?.username ?? event.user.username ?? '',
      path: requestPath!,
      query: query.join('?'),
      code: event.responseStatus?.code ?? 0,
      ...(event.annotations === undefined ? {} : { annotations: event.annotations }),
    })
  }
  return inOrderOfReceipt([...records.values()])
}
