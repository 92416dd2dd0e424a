import type { Client } from 'proreus'
import { apps, core, isConflict, isNotFound, keyOf, listInPages, metadataOnly, retryOnConflict } from 'proreus'

/** Creates a Deployment, changes it with each kind of write request of the API, and deletes it. */
export async function lifeOfADeployment(client: Client, namespace: string): Promise<string[]> {
  const labels = { app: 'web' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }
  const spec = { replicas: 1, selector: { matchLabels: labels }, template }
  const created = await client.create(apps.deployment, { metadata: { namespace, name: 'web', labels }, spec })
  const key = keyOf(created)

  // Replaces the object. If another client changes the object between `get` and `update`, the API server reports a conflict, and
  // `retryOnConflict` calls the function again.
  await retryOnConflict(async () => {
    const read = await client.get(apps.deployment, key)
    await client.update(apps.deployment, { ...read, metadata: { ...read.metadata, annotations: { team: 'a' } } })
  })
  // A merge patch changes only the fields that it contains. The value null removes a field.
  await client.patch(apps.deployment, key, { metadata: { annotations: { team: null } }, spec: { replicas: 2 } })
  // A JSON patch is a list of operations. If the operation `test` fails, the API server applies none of the operations.
  const operations = [
    { op: 'test', path: '/spec/replicas', value: 2 },
    { op: 'replace', path: '/spec/replicas', value: 3 },
  ] as const
  await client.patch(apps.deployment, key, operations, { type: 'json' })
  // A strategic merge patch merges the list of containers by name. Only built-in types support strategic merge patches.
  const containers = [{ name: 'web', image: 'web:2' }]
  await client.patch(apps.deployment, key, { spec: { template: { spec: { containers } } } }, { type: 'strategic' })
  // After a server-side apply, the field manager owns the applied fields.
  await client.apply(apps.deployment, { metadata: { ...key, labels: { tier: 'front' } }, spec: { replicas: 4 } })

  const scale = await client.get(apps.deployment, key, { subresource: 'scale' })
  await client.patch(apps.deployment, key, { spec: { replicas: (scale.spec.replicas ?? 0) + 1 } }, { subresource: 'scale' })
  await client.patchStatus(apps.deployment, key, { status: { observedGeneration: 1 } })

  const { spec: last, metadata } = await client.get(apps.deployment, key)
  // If another Deployment with the same name has replaced the Deployment, the precondition fails, and the new Deployment is not deleted.
  await client.delete(apps.deployment, key, { preconditions: { uid: metadata.uid }, propagationPolicy: 'Background' })
  const gone = await client.get(apps.deployment, key).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })
  return [`${last?.replicas} replicas`, `${last?.template.spec?.containers[0]?.image}`, gone === undefined ? 'deleted' : 'still there']
}

/** Returns the names of the ConfigMaps with these labels. The data of the ConfigMaps is not read. */
export async function namesOfConfigMaps(client: Client, namespace: string, labels: Record<string, string>): Promise<string[]> {
  const names: string[] = []
  const options = { namespace, labelSelector: { matchLabels: labels }, pageSize: 100 }
  for await (const { metadata } of listInPages(client, metadataOnly(core.configMap), options)) names.push(metadata.name)
  return names
}

/** Evicts a Pod, and returns the last lines of its logs. Throws if a PodDisruptionBudget forbids the eviction. */
export async function evict(client: Client, pod: core.Pod): Promise<string[]> {
  const metadata = keyOf(pod)
  const lines: string[] = []
  for await (const line of client.logs(metadata, { tailLines: 10 })) lines.push(line)
  await client.create(core.pod, { metadata, deleteOptions: { preconditions: { uid: pod.metadata.uid } } }, { subresource: 'eviction' })
  return lines
}

/** Returns a token of a ServiceAccount. The token is valid only for `audience`, and expires after ten minutes. */
export async function tokenFor(client: Client, serviceAccount: core.ServiceAccount, audience: string): Promise<string> {
  const request = { metadata: keyOf(serviceAccount), spec: { audiences: [audience], expirationSeconds: 600 } }
  return (await client.create(core.serviceAccount, request, { subresource: 'token' })).status.token
}

/** Acquires a lock with server-side apply. Returns false when another holder has the lock. */
export async function lock(client: Client, namespace: string, holder: string): Promise<boolean> {
  try {
    await client.apply(core.configMap, { metadata: { namespace, name: 'lock' }, data: { holder } }, { force: false, fieldManager: holder })
    return true
  } catch (error) {
    if (isConflict(error)) return false
    throw error
  }
}
