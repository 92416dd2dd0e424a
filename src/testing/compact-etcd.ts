/** Compacts etcd through its HTTP gateway, as kube-apiserver does every five minutes. */
import { ProreusError } from '../api/errors.ts'

/**
 * The etcd key in which kube-apiserver stores the compacted revision. When the value of this key changes, kube-apiserver drops older
 * revisions from its caches.
 */
const compactedKey = 'compact_rev_key'

/**
 * Removes from etcd all revisions that are older than the current revision.
 *
 * @throws {ProreusError} `PRO_API_UNREACHABLE` when etcd rejects a request.
 */
export async function compactEtcd(url: string): Promise<void> {
  const { header } = (await post(url, 'range', { key: base64(compactedKey) })) as { readonly header: { readonly revision: string } }
  await post(url, 'put', { key: base64(compactedKey), value: base64(header.revision) })
  await post(url, 'compaction', { revision: header.revision })
}

async function post(url: string, operation: string, body: object): Promise<unknown> {
  const answer = await fetch(`${url}/v3/kv/${operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (!answer.ok) throw new ProreusError('PRO_API_UNREACHABLE', `etcd did not take the request to compact: ${text}`)
  return JSON.parse(text)
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
