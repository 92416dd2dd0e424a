/** Creates and deletes the Apps that the compared operators reconcile. */
import type { Client } from '../../src/client/client.ts'
import { defineOperator, systemClock } from '../../src/index.ts'
import { collectionPath } from '../../src/client/resource-path.ts'
import { apps as builtin } from '../../src/api/kubernetes/apps.ts'
import { installKinds } from '../../src/manifests/install.ts'
import { app } from '../app.ts'

export const namespace = 'bench'

/** Maximum number of calls of `action` that run at the same time. */
const parallel = 16

export function nameOf(index: number): string {
  return `app-${index}`
}

/** Installs the CRD of App. */
export async function installApps(client: Client): Promise<void> {
  await installKinds(client, [defineOperator({ name: 'bench', kinds: [app] })], systemClock)
}

/**
 * Creates `count` Apps with the names that `nameOf` returns. `variables` is the number of environment variables of each App. A variable
 * takes about 64 bytes.
 */
export async function createApps(client: Client, count: number, variables = 0): Promise<void> {
  await inParallel(count, async (index) => {
    const env = Array.from({ length: variables }, (_, i) => ({ name: `VARIABLE_${i}`, value: `value-${i}-of-the-container` }))
    const containers = variables === 0 ? {} : { containers: [{ name: 'main', image: 'registry.local/team/main:1.2.3', env }] }
    const metadata = { namespace, name: nameOf(index), labels: { app: nameOf(index) } }
    await client.create(app, { metadata, spec: { image: `registry.local/app:${index}`, ...containers } })
  })
}

/** Deletes all Apps and their Deployments. No garbage collector runs during the measurements, so the Deployments are deleted explicitly. */
export async function deleteApps(client: Client): Promise<void> {
  for (const type of [app, builtin.deployment]) {
    await client.raw(collectionPath(type, namespace), { method: 'DELETE', body: { propagationPolicy: 'Background' } })
  }
}

/** Calls `action` for each index below `count`. At most `parallel` calls run at the same time. */
export async function inParallel(count: number, action: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) await action(next++)
  }
  await Promise.all(Array.from({ length: parallel }, work))
}
