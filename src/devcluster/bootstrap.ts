/** What an API server creates by itself when it starts for the first time. */
import { namespace as namespaceType, service as serviceType } from '../api/builtin.ts'
import { isAlreadyExists } from '../client/api-error.ts'
import type { Client } from '../client/client.ts'

const ownNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease']
/** The first address of the range for Services is that of the API server. */
const apiServerAddress = '10.96.0.1'
const fieldManager = 'kube-apiserver'

/** Creates Kubernetes' own namespaces and Service, and the other `namespaces`. */
export async function createOwnObjects(client: Client, namespaces: readonly string[], port: number): Promise<void> {
  await Promise.all(
    [...new Set([...ownNamespaces, ...namespaces])].map((name) =>
      ifAbsent(client.create(namespaceType, { metadata: { name } }, { fieldManager })),
    ),
  )
  const metadata = { namespace: 'default', name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } }
  const spec = { clusterIP: apiServerAddress, ports: [{ name: 'https', port: 443, targetPort: port, protocol: 'TCP' }] }
  await ifAbsent(client.create(serviceType, { metadata, spec }, { fieldManager }))
}

async function ifAbsent(creating: Promise<unknown>): Promise<void> {
  try {
    await creating
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}
