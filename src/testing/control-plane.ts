/** `startControlPlane`: an API server for tests: embedded, of the real programs, or an existing one. */
import { mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ProreusError } from '../api/errors.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { isPolicyRule } from '../api/policy-rule.ts'
import { hasOptions, isAnObject, isBoolean, isListOf, isOneOf, isText, refuseOptions } from '../api/option-checks.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import type { ObjectKey } from '../api/object.ts'
import { isNotFound } from '../client/api-error.ts'
import type { Client } from '../client/client.ts'
import { createClient } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import { loadConnection } from '../client/kubeconfig.ts'
import type { NodeOptions } from '../devcluster/controllers/node.ts'
import { defaultNodes } from '../devcluster/controllers/node.ts'
import { startDevCluster } from '../devcluster/dev-cluster.ts'
import type { RequestRecord } from '../devcluster/http/handle.ts'
import { newToken } from '../devcluster/pki/state.ts'
import type { Operator } from '../manager/operator.ts'
import { isLogger } from '../manager/run-option-checks.ts'
import type { Logger } from '../telemetry/logger.ts'
import { silentLogger } from '../telemetry/logger.ts'
import type { Environment } from './binaries.ts'
import type { FaultProxy } from './faults/fault-proxy.ts'
import { startFaultProxy } from './faults/fault-proxy.ts'
import type { StartedOperator, StartOperatorOptions } from './operator.ts'
import { startOperator } from './operator.ts'
import { startRealControlPlane } from './real-control-plane.ts'
import type { ControlPlaneServiceAccount } from './service-account.ts'
import { createServiceAccounts, userOfServiceAccount, withToken } from './service-account.ts'
import { until } from './until.ts'
import type { ControlPlaneUser, Created } from './users.ts'
import { createNamespaces, grant } from './users.ts'

/** The API server of Proreus in this process; etcd, kube-apiserver and the rest; the cluster of the kubeconfig. */
export type ControlPlaneBackend = 'embedded' | 'binaries' | 'existing'

export interface ControlPlaneOptions {
  /** Default `embedded`. */
  readonly backend?: ControlPlaneBackend
  /** Default true: runs garbage collection, namespace deletion, ServiceAccounts, scheduling. */
  readonly controllers?: boolean
  /** Simulated nodes, when there are controllers. Default: one node with the label `project=test`. An existing cluster has its own. */
  readonly nodes?: readonly NodeOptions[]
  /** Namespaces to create. Default none. */
  readonly namespaces?: readonly string[]
  /** Users besides the administrator. Default none. */
  readonly users?: readonly ControlPlaneUser[]
  /** ServiceAccounts to create, with their rights. Default none. */
  readonly serviceAccounts?: readonly ControlPlaneServiceAccount[]
  /** Default: no output. */
  readonly logger?: Logger
  /** The environment with the paths of programs and of the kubeconfig. Default: that of this process. */
  readonly env?: Environment
}

const accountChecks = { name: isText, rules: isListOf(isPolicyRule), namespaceRules: isAnObject }
const userChecks = { ...accountChecks, groups: isListOf(isText) } satisfies Record<keyof ControlPlaneUser, OptionCheck>
const checkOptions = hasOptions({
  backend: isOneOf('embedded', 'binaries', 'existing'),
  controllers: isBoolean,
  nodes: isListOf(hasOptions({ name: isText, labels: isAnObject } satisfies Record<keyof NodeOptions, OptionCheck>, ['name'])),
  namespaces: isListOf(isText),
  users: isListOf(hasOptions(userChecks, ['name', 'rules'])),
  serviceAccounts: isListOf(hasOptions(accountChecks satisfies Record<keyof ControlPlaneServiceAccount, OptionCheck>, ['name'])),
  logger: isLogger,
  env: isAnObject,
} satisfies Record<keyof ControlPlaneOptions, OptionCheck>)

/** One of the users of the options, or any ServiceAccount (`namespace/name`) that exists when the first request is made. */
export type Identity = string | { readonly serviceAccount: string }

/** A running control plane. */
export interface ControlPlane {
  readonly backend: ControlPlaneBackend
  /** The administrator's connection. */
  readonly connection: Connection
  /** The administrator's client; it is closed with the control plane. */
  readonly client: Client
  /**
   * Returns a connection as one of the users of the options, or as a ServiceAccount, for `createClient` or for an operator under test.
   *
   * @example
   * const reader = createClient(controlPlane.connectionFor('reader'))
   * const operator = createClient(controlPlane.connectionFor({ serviceAccount: 'system/operator' }))
   *
   * @throws {ProreusError} `PRO_INPUT` when the options have no such user.
   */
  connectionFor(identity: Identity): Connection
  /** Path of the administrator's kubeconfig, for the variable KUBECONFIG. */
  readonly kubeconfig: string
  /**
   * Returns the answered requests, oldest first: time, verb, user, path, query and status code; with a real API server the audit
   * annotations, too. A watch is recorded when it has begun or ended. Rejects with `PRO_INPUT` for an existing cluster, whose requests are
   * not recorded.
   */
  requests(): Promise<readonly RequestRecord[]>
  /** Compacts the storage: older continue tokens and resourceVersions result in 410, within moments. Not for an existing cluster. */
  compact(): Promise<void>
  /**
   * Starts a proxy in front of this control plane that injects faults. Give its `connection` or `kubeconfig` to the code under test, and
   * use `client` in the test itself. It stops with the control plane.
   *
   * @example
   * const proxy = await controlPlane.faultProxy()
   * proxy.answer(503, { count: 3 })
   * proxy.cut()
   */
  faultProxy(): Promise<FaultProxy>
  /**
   * Installs the kinds and webhooks of operators and runs them in this process, with certificates of their own; resolves when the caches
   * have synced and the API server can call the webhooks. A real API server starts to call them some moments later: wait for the effect
   * with `until`. An existing cluster must be able to reach this machine's loopback. The operators stop before the control plane.
   *
   * @example
   * const operator = await controlPlane.startOperator([hello])
   *
   * @throws {ProreusError} when the installation or the start fails, e.g. `PRO_PERMISSION` or `PRO_CONFIG_INVALID`.
   */
  startOperator(operators: readonly Operator[], options?: StartOperatorOptions): Promise<StartedOperator>
  /** Stops everything and leaves nothing behind; in an existing cluster, deletes the objects that the options created. */
  stop(): Promise<void>
}

/**
 * Starts a control plane, or connects to the existing one, and resolves when it is ready.
 *
 * @example
 * const controlPlane = await startControlPlane({ backend: 'binaries', namespaces: ['test'] })
 * const { serverVersion } = await controlPlane.client.raw('/version')
 * await controlPlane.stop()
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` with all invalid and unknown options, or when a program is missing, `PRO_API_UNREACHABLE`
 * when one does not start, `PRO_KUBECONFIG` when there is no existing cluster.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  refuseOptions('startControlPlane', checkOptions(options, ''))
  const { backend = 'embedded', controllers = true, nodes = defaultNodes, namespaces = [], serviceAccounts = [] } = options
  const { logger = silentLogger(), env = process.env } = options
  const users = [...(options.users ?? []), ...serviceAccounts.map(userOfServiceAccount)]
  const full = { controllers, nodes, namespaces, users, serviceAccounts, logger, env }
  switch (backend) {
    case 'embedded':
      return withCompany(await startEmbedded(full))
    case 'binaries':
      return withCompany(await startRealControlPlane(full))
    case 'existing':
      return withCompany(await useExisting(full))
  }
}

type FullOptions = Required<Omit<ControlPlaneOptions, 'backend'>>

/** A control plane without the methods that start something beside it. */
export type BareControlPlane = Omit<ControlPlane, 'faultProxy' | 'startOperator'>

/** Adds these methods; what they start stops before the control plane, the latest first. */
function withCompany(controlPlane: BareControlPlane): ControlPlane {
  const company: Promise<{ stop(): Promise<void> }>[] = []
  const join = <T extends { stop(): Promise<void> }>(started: Promise<T>): Promise<T> => {
    company.push(started)
    return started
  }
  let stopped: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    // An operator whose API server is unreachable may fail when it stops; `ended` reports that.
    for (const started of company.reverse()) await started.then((each) => each.stop()).catch(() => undefined)
    await controlPlane.stop()
  }
  return {
    ...controlPlane,
    faultProxy: () => join(startFaultProxy(controlPlane.connection)),
    startOperator: (operators, options) => join(startOperator(controlPlane, operators, options)),
    stop: () => (stopped ??= stop()),
  }
}

async function startEmbedded(options: FullOptions): Promise<BareControlPlane> {
  const { users, serviceAccounts, controllers, nodes, namespaces, logger } = options
  const cluster = await startDevCluster({
    port: 0,
    controllers,
    nodes,
    namespaces,
    // Their rights come from RBAC objects, as on every other control plane.
    users: users.map(({ name, groups = [] }) => ({ name, groups, rules: [], token: newToken() })),
    logger,
  })
  const directory = await mkdtemp(join(tmpdir(), 'proreus-'))
  const kubeconfig = join(directory, 'kubeconfig')
  await cluster.writeKubeconfig(kubeconfig)
  const client = createClient(cluster.connection)
  const stop = async (): Promise<void> => {
    await client.close()
    await cluster.close()
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await grant(client, users, 'proreus-test')
    await createServiceAccounts(client, serviceAccounts)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    backend: 'embedded',
    connection: cluster.connection,
    client,
    connectionFor: (identity) =>
      typeof identity === 'string' ? cluster.connectionFor(identity) : withToken(client, cluster.connection, identity.serviceAccount),
    kubeconfig,
    requests: () => Promise.resolve([...cluster.requests]),
    compact: () => Promise.resolve(cluster.compact()),
    stop,
  }
}

/** Time limit for the deletion of a namespace in an existing cluster. */
const leavingMs = 60_000

async function isGone(client: Client, type: ResourceType, key: ObjectKey): Promise<boolean> {
  try {
    await client.get(type, key)
    return false
  } catch (error) {
    if (isNotFound(error)) return true
    throw error
  }
}

async function useExisting({ users, serviceAccounts, namespaces, env }: FullOptions): Promise<BareControlPlane> {
  const connection = await loadConnection({ env })
  const client = createClient(connection)
  const created: Created[] = []
  const stop = async (): Promise<void> => {
    try {
      // Objects that the test itself has deleted are ignored.
      for (const { type, key } of created.reverse()) {
        await client.delete(type, key).catch((error: unknown) => {
          if (!isNotFound(error)) throw error
        })
      }
      // The deletion of a namespace takes time, during which it cannot be created again.
      for (const { type, key } of created) await until(`${type.kind} ${key.name} has gone`, () => isGone(client, type, key), leavingMs)
    } finally {
      await client.close()
    }
  }
  try {
    created.push(...(await createNamespaces(client, namespaces)))
    created.push(...(await createServiceAccounts(client, serviceAccounts)))
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
    connectionFor(identity) {
      if (typeof identity !== 'string') return withToken(client, connection, identity.serviceAccount)
      const user = users.find(({ name }) => name === identity)
      if (user === undefined)
        throw new ProreusError('PRO_INPUT', `There is no user ${JSON.stringify(identity)} here: name it in the option users.`)
      // The administrator cannot create tokens for users, but may impersonate them.
      const groups = [...(user.groups ?? []), 'system:authenticated']
      return {
        ...connection,
        headers: { 'Impersonate-User': identity, 'Impersonate-Group': groups },
        describe: `${connection.describe}, as ${identity}`,
      }
    },
    compact: () => Promise.reject(new ProreusError('PRO_INPUT', 'The storage of an existing cluster cannot be compacted.')),
    requests: () =>
      Promise.reject(new ProreusError('PRO_INPUT', 'The requests of an existing cluster are not recorded: use another backend.')),
    stop,
  }
}
