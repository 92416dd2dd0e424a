/** `startControlPlane`: an API server for tests, embedded, of the real programs, or one that runs already. */
import { mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ProreusError } from '../api/errors.ts'
import type { Client } from '../client/client.ts'
import { createClient } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import { loadConnection } from '../client/kubeconfig.ts'
import type { NodeOptions } from '../devcluster/controllers/node.ts'
import { defaultNodes } from '../devcluster/controllers/node.ts'
import { startDevCluster } from '../devcluster/dev-cluster.ts'
import type { RequestRecord } from '../devcluster/http/handle.ts'
import { newToken } from '../devcluster/pki/state.ts'
import type { Logger } from '../telemetry/logger.ts'
import { silentLogger } from '../telemetry/logger.ts'
import type { Environment } from './binaries.ts'
import { startRealControlPlane } from './real-control-plane.ts'
import type { ControlPlaneUser, Created } from './users.ts'
import { createNamespaces, grant } from './users.ts'

/** The API server of Proreus in this process; etcd, kube-apiserver and the rest; the cluster of the kubeconfig. */
export type ControlPlaneBackend = 'embedded' | 'binaries' | 'existing'

export interface ControlPlaneOptions {
  /** Default `embedded`. */
  readonly backend?: ControlPlaneBackend
  /** Default true: garbage collection, namespace deletion, ServiceAccounts, scheduling. */
  readonly controllers?: boolean
  /** Where Pods run, when there are controllers. Default: one node with the label `project=test`. An existing cluster has its own. */
  readonly nodes?: readonly NodeOptions[]
  /** Created besides Kubernetes' own. Default none. */
  readonly namespaces?: readonly string[]
  readonly users?: readonly ControlPlaneUser[]
  /** Default: nothing is logged. */
  readonly logger?: Logger
  /** Where the programs are looked for, and the kubeconfig of an existing cluster. Default: this process' variables. */
  readonly env?: Environment
}

export interface ControlPlane {
  readonly backend: ControlPlaneBackend
  /** As the administrator. */
  readonly connection: Connection
  /** As the administrator; it is closed with the control plane. */
  readonly client: Client
  /** As one of the users of the options. */
  connectionFor(userName: string): Connection
  /** The administrator's kubeconfig: a path, as for the variable KUBECONFIG. */
  readonly kubeconfig: string
  /** The requests that were answered, oldest first. Not for an existing cluster. */
  requests(): Promise<readonly RequestRecord[]>
  /** Ends everything and leaves nothing behind; in an existing cluster, takes away what was created for the options. */
  stop(): Promise<void>
}

/**
 * Starts a control plane, or takes the existing one, and resolves when it is ready.
 *
 * @example
 * const controlPlane = await startControlPlane({ backend: 'binaries', namespaces: ['test'] })
 * const { serverVersion } = await controlPlane.client.raw('/version')
 * await controlPlane.stop()
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when a program is not here, `PRO_API_UNREACHABLE` when one does not start,
 * `PRO_KUBECONFIG` when there is no existing cluster.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { backend = 'embedded', controllers = true, nodes = defaultNodes, namespaces = [], users = [] } = options
  const { logger = silentLogger(), env = process.env } = options
  const full = { controllers, nodes, namespaces, users, logger, env }
  switch (backend) {
    case 'embedded':
      return startEmbedded(full)
    case 'binaries':
      return startRealControlPlane(full)
    case 'existing':
      return useExisting(full)
    default:
      throw new ProreusError(
        'PRO_INPUT',
        `There is no backend ${JSON.stringify(backend)} of a control plane: use embedded, binaries or existing.`,
      )
  }
}

type FullOptions = Required<Omit<ControlPlaneOptions, 'backend'>>

async function startEmbedded({ users, controllers, nodes, namespaces, logger }: FullOptions): Promise<ControlPlane> {
  const cluster = await startDevCluster({
    port: 0,
    controllers,
    nodes,
    namespaces,
    users: users.map((user) => ({ ...user, token: newToken() })),
    logger,
  })
  const directory = await mkdtemp(join(tmpdir(), 'proreus-'))
  const kubeconfig = join(directory, 'kubeconfig')
  await cluster.writeKubeconfig(kubeconfig)
  const client = createClient(cluster.connection)
  return {
    backend: 'embedded',
    connection: cluster.connection,
    client,
    connectionFor: (name) => cluster.connectionFor(name),
    kubeconfig,
    requests: () => Promise.resolve([...cluster.requests]),
    async stop() {
      await client.close()
      await cluster.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function useExisting({ users, namespaces, env }: FullOptions): Promise<ControlPlane> {
  const connection = await loadConnection({ env })
  const client = createClient(connection)
  const created: Created[] = []
  const stop = async (): Promise<void> => {
    for (const { type, key } of created.reverse()) await client.delete(type, key)
    await client.close()
  }
  try {
    created.push(...(await createNamespaces(client, namespaces)))
    created.push(
      ...(await grant(
        client,
        users,
        `proreus-test-${newToken()
          .slice(0, 8)
          .toLowerCase()
          .replaceAll(/[^a-z0-9]/g, '0')}`,
      )),
    )
  } catch (error) {
    await stop()
    throw error
  }
  return {
    backend: 'existing',
    connection,
    client,
    kubeconfig: env.KUBECONFIG || join(env.HOME || homedir(), '.kube', 'config'),
    connectionFor(name) {
      const user = users.find((one) => one.name === name)
      if (user === undefined)
        throw new ProreusError('PRO_INPUT', `There is no user ${JSON.stringify(name)} here: name it in the option users.`)
      // The administrator cannot make tokens for users, but may act as any.
      const groups = [...(user.groups ?? []), 'system:authenticated']
      return {
        ...connection,
        headers: { 'Impersonate-User': name, 'Impersonate-Group': groups },
        describe: `${connection.describe}, as ${name}`,
      }
    },
    requests: () =>
      Promise.reject(
        new ProreusError('PRO_INPUT', 'An existing cluster does not tell its requests: ask a control plane of another backend.'),
      ),
    stop,
  }
}
