import { createClient, loadConnection } from 'proreus'
import type { Client } from 'proreus'

/** Connects with the first configuration that exists: `KUBECONFIG`, the Pod's service account, or `~/.kube/config`. */
export async function connect(env: Record<string, string | undefined>): Promise<Client> {
  const connection = await loadConnection({ env })
  return createClient(connection, {
    fieldManager: 'report',
    userAgent: 'report/1.0',
    timeoutMs: { list: 120_000, default: 30_000 },
    onWarning: (text, { path }) => void process.stderr.write(`${path}: ${text}\n`),
  })
}

/** Returns a client that impersonates another user. */
export async function connectAs(env: Record<string, string | undefined>, user: string): Promise<Client> {
  return createClient(await loadConnection({ env }), { impersonate: { user, groups: ['developers'], extra: { reason: ['audit'] } } })
}
