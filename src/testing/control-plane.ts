/** `startControlPlane`: starts the embedded API server or a real control plane for tests, or connects to an existing cluster. */
import { mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ProreusError } from '../api/errors.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { isPolicyRule } from '../api/policy-rule.ts'
import { hasOptions, isAnObject, isDelay, isListOf, isLogger, isMapOf, isOneOf, isText, refuseOptions } from '../api/option-checks.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import type { ObjectKey } from '../api/object.ts'
import { isNotFound } from '../client/api-error.ts'
import type { Client } from '../client/client.ts'
import { createClient } from '../client/client.ts'
import { loadConnection } from '../client/kubeconfig.ts'
import { isControllerSelection } from '../devcluster/controllers/controller-selection.ts'
import type { SimulationOptions } from '../devcluster/controllers/kubelet/simulated/simulation.ts'
import type { NodeOptions, NodeTaint } from '../devcluster/controllers/nodes/node.ts'
import { defaultNodes } from '../devcluster/controllers/nodes/node.ts'
import { startDevCluster } from '../devcluster/dev-cluster.ts'
import { runOptionChecks } from '../manager/run-option-checks.ts'
import { systemClock } from '../runtime/clock.ts'
import { newToken, systemRandom } from '../runtime/random.ts'
import { createLogger } from '../telemetry/logger.ts'
import { inOrderOfReceipt } from './audit.ts'
import { startFaultProxy } from './faults/fault-proxy.ts'
import type { OperatorDefaults } from './operator.ts'
import { startOperator } from './operator.ts'
import { startRealControlPlane } from './real-control-plane.ts'
import type { ControlPlaneServiceAccount } from './service-account.ts'
import { createServiceAccounts, userOfServiceAccount, withToken } from './service-account.ts'
import { until } from './until.ts'
import type { ControlPlaneUser, Created } from './users.ts'
import { withoutSnapshots } from './without-snapshots.ts'
import { createNamespaces, grant } from './users.ts'
import type { ControlPlaneOptions, ControlPlane, ControlPlanePods, BareControlPlane } from './control-plane-types.ts'

const accountChecks = { name: isText, rules: isListOf(isPolicyRule), namespaceRules: isAnObject }
const userChecks = { ...accountChecks, groups: isListOf(isText) } satisfies Record<keyof ControlPlaneUser, OptionCheck>
const taintChecks = {
  key: isText,
  value: isText,
  effect: isOneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
} satisfies Record<keyof NodeTaint, OptionCheck>
const nodeChecks = {
  name: isText,
  labels: isAnObject,
  taints: isListOf(hasOptions(taintChecks, ['key', 'effect'])),
  capacity: isAnObject,
} satisfies Record<keyof NodeOptions, OptionCheck>
const simulationChecks = {
  scheduleMs: isDelay,
  pullMs: isDelay,
  startMs: isDelay,
  readyMs: isDelay,
  stopMs: isDelay,
  nodeGraceMs: isDelay,
} satisfies Record<keyof SimulationOptions, OptionCheck>
const checkOptions = hasOptions({
  backend: isOneOf('embedded', 'binaries', 'existing'),
  controllers: isControllerSelection,
  nodes: isListOf(hasOptions(nodeChecks, ['name'])),
  simulation: hasOptions(simulationChecks),
  pods: hasOptions({ images: isMapOf(isText) } satisfies Record<keyof ControlPlanePods, OptionCheck>),
  namespaces: isListOf(isText),
  users: isListOf(hasOptions(userChecks, ['name', 'rules'])),
  serviceAccounts: isListOf(hasOptions(accountChecks satisfies Record<keyof ControlPlaneServiceAccount, OptionCheck>, ['name'])),
  logger: isLogger,
  clock: runOptionChecks.clock,
  random: runOptionChecks.random,
  env: isAnObject,
} satisfies Record<keyof ControlPlaneOptions, OptionCheck>)

/**
 * Starts a control plane, or connects to an existing cluster. Resolves when the API server is ready, and the namespaces, users and
 * ServiceAccounts of the options exist.
 *
 * @example
 * const controlPlane = await startControlPlane({ backend: 'binaries', namespaces: ['test'] })
 * const { serverVersion } = await controlPlane.client.raw('/version')
 * await controlPlane.stop()
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when options are invalid or unknown, or binaries are missing. The message names all of them.
 * @throws {ProreusError} `PRO_API_UNREACHABLE` when a binary does not start.
 * @throws {ProreusError} `PRO_KUBECONFIG` when the kubeconfig of the existing cluster cannot be loaded.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  refuseOptions('startControlPlane', [...checkOptions(options, ''), ...misplacedOptions(options)])
  const {
    backend = 'embedded',
    clock = systemClock,
    random = systemRandom,
    controllers = true,
    nodes = defaultNodes,
    simulation = {},
    namespaces = [],
    serviceAccounts = [],
  } = options
  const { logger = createLogger({ level: 'error', pretty: true }), env = process.env } = options
  const users = [...(options.users ?? []), ...serviceAccounts.map(userOfServiceAccount)]
  const full = { controllers, nodes, simulation, namespaces, users, serviceAccounts, logger, env }
  switch (backend) {
    case 'embedded':
      return withCompany(await startEmbedded({ ...full, clock, random, pods: options.pods }), { logger, clock, random })
    case 'binaries':
      return withCompany(await startRealControlPlane(full), { logger, clock, random })
    case 'existing':
      return withCompany(await useExisting(full), { logger, clock, random })
  }
}

type FullOptions = Required<Omit<ControlPlaneOptions, 'backend' | 'clock' | 'random' | 'pods'>>

/** If the backend is not `embedded`, returns an error for each specified option that only the embedded API server supports. */
function misplacedOptions({ backend = 'embedded', clock, random, pods }: ControlPlaneOptions): readonly string[] {
  if (backend === 'embedded') return []
  const misplaced = (name: string, reason: string): string =>
    `${name}: must be absent with the backend ${JSON.stringify(backend)}, whose API server ${reason}`
  return [
    ...(clock === undefined ? [] : [misplaced('clock', 'uses the time of its machine')]),
    ...(pods === undefined ? [] : [misplaced('pods', 'has nodes of its own')]),
    ...(random === undefined ? [] : [misplaced('random', 'chooses uids and names itself')]),
  ]
}

/**
 * Adds `faultProxy` and `startOperator` to a control plane. `stop` first stops the proxies and operators in the reverse order of their
 * start. Then it stops the control plane.
 */
function withCompany(controlPlane: BareControlPlane, defaults: OperatorDefaults): ControlPlane {
  const company: Promise<{ stop(): Promise<void> }>[] = []
  const join = <T extends { stop(): Promise<void> }>(started: Promise<T>): Promise<T> => {
    company.push(started)
    return started
  }
  let stopped: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    // An operator may fail to stop when its API server is unreachable. The error is ignored here, because the promise `ended` of the
    // operator already reports it.
    for (const started of company.reverse()) await started.then((each) => each.stop()).catch(() => undefined)
    await controlPlane.stop()
  }
  return {
    ...controlPlane,
    faultProxy: () => join(startFaultProxy(controlPlane.connection)),
    startOperator: (operators, options) => join(startOperator({ ...controlPlane, ...defaults }, operators, options)),
    stop: () => (stopped ??= stop()),
  }
}

interface EmbeddedOptions extends FullOptions, Required<Pick<ControlPlaneOptions, 'clock' | 'random'>> {
  readonly pods: ControlPlanePods | undefined
}

async function startEmbedded(options: EmbeddedOptions): Promise<BareControlPlane> {
  const { pods, users, serviceAccounts, controllers, nodes, simulation, namespaces, logger, clock, random } = options
  const directory = await mkdtemp(join(tmpdir(), 'proreus-'))
  const cluster = await startDevCluster({
    port: 0,
    controllers,
    nodes,
    simulation,
    ...(pods !== undefined && { pods: { ...pods, stateFolder: join(directory, 'pods') } }),
    namespaces,
    // `rules` is empty, because RBAC objects grant the permissions of the users, as in a real control plane.
    users: users.map(({ name, groups = [] }) => ({ name, groups, rules: [], token: newToken() })),
    logger,
    clock,
    random,
  }).catch(async (error: unknown) => {
    await rm(directory, { recursive: true, force: true })
    throw error
  })
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
      typeof identity === 'string'
        ? cluster.connectionFor(identity)
        : withToken(client, cluster.connection, identity.serviceAccount, clock),
    pods: cluster.pods,
    kubeconfig,
    requests: () => Promise.resolve(inOrderOfReceipt(cluster.requests)),
    compact: () => Promise.resolve(cluster.compact()),
    snapshot: () => cluster.snapshot(),
    restore: (snapshot) => cluster.restore(snapshot),
    stop,
  }
}

/** Time limit in milliseconds for the deletion of each object in an existing cluster. Namespaces take longest. */
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
      // The test may have deleted some of the objects itself, so a NotFound error is ignored.
      for (const { type, key } of created.reverse()) {
        await client.delete(type, key).catch((error: unknown) => {
          if (!isNotFound(error)) throw error
        })
      }
      // A namespace cannot be created again until its deletion is complete, so `stop` waits until all objects are gone.
      for (const { type, key } of created) await until(`${type.kind} ${key.name} has gone`, () => isGone(client, type, key), leavingMs)
    } finally {
      await client.close()
    }
  }
  try {
    const suffix = newToken()
      .slice(0, 8)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]/g, '0')
    await createNamespaces(client, namespaces, created)
    await createServiceAccounts(client, serviceAccounts, created)
    await grant(client, users, `proreus-test-${suffix}`, created)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    backend: 'existing',
    connection,
    client,
    pods: undefined,
    kubeconfig: env.KUBECONFIG || join(env.HOME || homedir(), '.kube', 'config'),
    connectionFor(identity) {
      if (typeof identity !== 'string') return withToken(client, connection, identity.serviceAccount)
      const user = users.find(({ name }) => name === identity)
      if (user === undefined)
        throw new ProreusError('PRO_INPUT', `There is no user ${JSON.stringify(identity)} here: name it in the option users.`)
      // The administrator cannot create tokens for users. Therefore, the connection authenticates as the administrator and impersonates the
      // user.
      const groups = [...(user.groups ?? []), 'system:authenticated']
      return {
        ...connection,
        headers: { 'Impersonate-User': identity, 'Impersonate-Group': groups },
        describe: `${connection.describe}, as ${identity}`,
      }
    },
    compact: () => Promise.reject(new ProreusError('PRO_INPUT', 'The storage of an existing cluster cannot be compacted.')),
    ...withoutSnapshots,
    requests: () =>
      Promise.reject(new ProreusError('PRO_INPUT', 'The requests of an existing cluster are not recorded: use another backend.')),
    stop,
  }
}
