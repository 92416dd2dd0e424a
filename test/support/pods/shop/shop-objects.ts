/** The objects of the shop: a Deployment of web servers, a StatefulSet of stores with PersistentVolumeClaims, and Jobs of buyers. */
import { join } from 'node:path'
import { service as serviceType } from '../../../../src/api/builtin.ts'
import { apps } from '../../../../src/api/kubernetes/apps.ts'
import type { core } from '../../../../src/api/kubernetes/core.ts'
import { batch } from '../../../../src/api/kubernetes/batch.ts'
import type { Client } from '../../../../src/client/client.ts'
import { nodeProgram } from '../node-program.ts'

export const namespace = 'default'
export const webKey = { namespace, name: 'web' }
export const storeKey = { namespace, name: 'store' }

/** The usual numbers of replicas. Disturbances scale the workloads to other numbers. */
export const replicas = { web: 2, store: 2 } as const

const programs = { name: 'programs', hostPath: { path: join(import.meta.dirname, 'programs') } }
const programsPath = '/programs'
const port = 8080

export function versionEnv(version: number): { readonly name: string; readonly value: string }[] {
  return [{ name: 'VERSION', value: `v${version}` }]
}

/** Returns true for the command of a web server, a store or a buyer. */
export function isOfShop(command: string): boolean {
  return command.startsWith(`${nodeProgram} ${programsPath}/`)
}

/** Returns the spec of a Pod that runs one of the programs. */
function running(
  program: string,
  { volumeMounts = [], ...more }: { readonly volumeMounts?: object[]; readonly [field: string]: unknown } = {},
): core.PodSpec {
  const mount = { name: programs.name, mountPath: programsPath, readOnly: true }
  const command = [nodeProgram, join(programsPath, `${program}.ts`)]
  const container = { name: 'main', image: 'node', command, volumeMounts: [mount, ...volumeMounts], ...more }
  return { terminationGracePeriodSeconds: 2, volumes: [programs], containers: [container as never] }
}

/** Creates the Services, the StatefulSet and the Deployment. They exist until the end of the run. */
export async function createShop(client: Client): Promise<void> {
  const readinessProbe = { httpGet: { port }, periodSeconds: 1 }
  const [web, store] = [{ app: 'web' }, { app: 'store' }]
  await client.create(serviceType, { metadata: webKey, spec: { selector: web, ports: [{ port: 80, targetPort: port }] } })
  await client.create(serviceType, { metadata: storeKey, spec: { clusterIP: 'None', selector: store, ports: [{ port }] } })
  await client.create(apps.statefulSet, {
    metadata: storeKey,
    spec: {
      serviceName: storeKey.name,
      replicas: replicas.store,
      selector: { matchLabels: store },
      template: {
        metadata: { labels: store },
        spec: running('store', { readinessProbe, volumeMounts: [{ name: 'data', mountPath: '/data' }] }),
      },
      volumeClaimTemplates: [
        { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
      ],
    },
  })
  await client.create(apps.deployment, {
    metadata: webKey,
    spec: {
      replicas: replicas.web,
      selector: { matchLabels: web },
      template: {
        metadata: { labels: web },
        spec: running('web', { readinessProbe, env: versionEnv(0) }),
      },
    },
  })
}

/** Creates a Job that places orders. The Job completes when all of its orders are acknowledged. */
export async function createBuyer(client: Client, name: string, orders: number): Promise<void> {
  const spec = running('buyer', { args: [name, String(orders)] })
  await client.create(batch.job, {
    metadata: { namespace, name },
    spec: {
      backoffLimit: 1000,
      template: { spec: { ...spec, restartPolicy: 'OnFailure' } },
    },
  })
}
