/**
 * `startDevCluster`: runs an API server in this process for `proreus dev` and for tests. The controllers of a cluster run in the same
 * process, so Pods are scheduled and run.
 */
import type { Socket } from 'node:net'
import type { Clock } from '../runtime/clock.ts'
import { systemClock } from '../runtime/clock.ts'
import { newToken, systemRandom } from '../runtime/random.ts'
import { ProreusError } from '../api/errors.ts'
import { refuseOptions } from '../api/option-checks.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import { createClient } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import type { Logger } from '../telemetry/logger.ts'
import { withCertificateChecks } from './admission/certificate-admission.ts'
import { createWebhookCaller } from './admission/caller.ts'
import { mappedServices } from './admission/service-resolver.ts'
import { withClaimResizeCheck } from './admission/claim-resize.ts'
import { withPodSecurity } from './admission/pod-security.ts'
import { endpointOf } from './admission/stored-services.ts'
import { storedClasses, storedPods, storedWebhooks } from './admission/admission-state.ts'
import { createWebhookAdmission } from './admission/webhook-admission.ts'
import { deferredAccess } from './pods/deferred-access.ts'
import { referenceChecks } from './pods/reference-checks.ts'
import type { Processes, ProcessPods, ProcessPodsOptions } from './pods/start-processes.ts'
import { keepApiServices } from './api-services.ts'
import { createOwnObjects } from './bootstrap.ts'
import type { ControllerSelection } from './controllers/controller-selection.ts'
import { isControllerSelection, isSelected } from './controllers/controller-selection.ts'
import { runControllers } from './controllers/controllers.ts'
import { simulatedRuntime } from './controllers/kubelet/simulated/simulated-runtime.ts'
import type { SimulationOptions } from './controllers/kubelet/simulated/simulation.ts'
import type { NodeOptions } from './controllers/nodes/node.ts'
import { defaultNodes, registerNodes } from './controllers/nodes/node.ts'
import { catalogTypes } from './controllers/type-source.ts'
import { createStandardClass } from './controllers/volumes/storage-class.ts'
import { customResourceDefinitions } from './crd/custom-resource-definitions.ts'
import { startDefinitionController } from './crd/definition-controller.ts'
import type { TokenAuthenticator } from './access/authenticate.ts'
import { tokenAuthenticator } from './access/authenticate.ts'
import type { Grant } from './access/authorizer.ts'
import { masters, ruleAuthorizer } from './access/authorizer.ts'
import type { RequestRecord } from './http/handle.ts'
import { serverVersion } from './http/non-resource-paths.ts'
import { reviewRows } from './access/reviews.ts'
import type { ApiServer } from './http/server.ts'
import { startApiServer } from './http/server.ts'
import { serviceAccountTokens } from './access/service-account-tokens.ts'
import { storedRules } from './access/stored-rules.ts'
import { kubeconfigYaml, writeKubeconfig } from './state/kubeconfig.ts'
import type { ClusterState } from './state/state.ts'
import { issueServingCertificate, openState } from './state/state.ts'
import type { UserInfo } from './apimachinery/request-context.ts'
import type { ClusterSnapshot } from './snapshots.ts'
import { Snapshots } from './snapshots.ts'
import { Registry } from './registry/registry.ts'
import type { ContainerAccess } from './rest/container-access.ts'
import { builtinResources } from './resources/builtin/index.ts'
import { Catalog } from './resources/catalog.ts'
import type { FoundObjects, OpenedStore } from './open-store.ts'
import { expireEvents } from './expired-events.ts'
import { openStore } from './open-store.ts'

/** A user in addition to the administrator. The user has the permissions in `rules` and `namespaceRules`. */
export interface DevClusterUser {
  readonly name: string
  readonly token: string
  readonly groups?: readonly string[]
  /** Permissions in all namespaces and on cluster-scoped resources, like the permissions from a ClusterRoleBinding. */
  readonly rules: readonly PolicyRule[]
  /** Additional permissions in single namespaces, like the permissions from RoleBindings. The keys are the names of the namespaces. */
  readonly namespaceRules?: Readonly<Record<string, readonly PolicyRule[]>>
}

export interface DevClusterOptions {
  /**
   * Port of the server. Default 6443; 0 means any free port. If the port is in use and `portRequired` is false, the server tries the next
   * 20 ports.
   */
  readonly port?: number
  /** If true, and the port is in use, `startDevCluster` throws `PRO_PORT_IN_USE`, and does not try other ports. Default false. */
  readonly portRequired?: boolean
  /** The command-line flag that sets the port. The message of `PRO_PORT_IN_USE` contains the flag. Absent if no flag sets the port. */
  readonly portFlag?: string
  /**
   * Directory in which the CA, the administrator's token and the key of ServiceAccount tokens are stored across restarts. If `directory` is
   * absent, the CA, the token and the key are generated at each start.
   */
  readonly directory?: string
  /**
   * If true, the cluster stores its API objects in `directory`, and loads these objects at the next start. The stored objects include each
   * write that the API server has confirmed, even if the process crashes. While the cluster runs, no other cluster with `keepObjects` can
   * use the same directory.
   * If false (default), the cluster keeps its API objects only in memory.
   */
  readonly keepObjects?: boolean
  /** True to delete the objects in `directory` before the start. The option has no effect without `keepObjects`. Default false. */
  readonly reset?: boolean
  /**
   * Selects the controllers that run, e.g. for workloads, namespace deletion and garbage collection. With `true` (default), all controllers
   * run. With `false`, no controllers, no scheduler and no nodes run. A list has the notation of kube-controller-manager's flag
   * `--controllers`: `['*', '-deployment-controller']` selects all controllers except one, and `['job-controller']` selects one controller.
   */
  readonly controllers?: ControllerSelection
  /** The simulated nodes. Default: one node with the label `project=test`. */
  readonly nodes?: readonly NodeOptions[]
  /** The durations of the steps of simulated Pods. By default, Pods run and are ready without delay. */
  readonly simulation?: SimulationOptions
  /**
   * Runs the containers of Pods as processes of this machine. Default: Pods are simulated. The option has no effect without `controllers`.
   */
  readonly pods?: ProcessPodsOptions
  /**
   * The access of the API server to the containers of Pods. Ignored when the containers run as processes. By default, the API server has no
   * access, because Pods are simulated. @internal
   */
  readonly containers?: ContainerAccess
  /** Namespaces to create in addition to the built-in ones. Default none. */
  readonly namespaces?: readonly string[]
  readonly users?: readonly DevClusterUser[]
  /** Base URLs for calls to the Services in webhook configurations, e.g. `https://127.0.0.1:9443`, keyed by `namespace/name`. */
  readonly services?: Readonly<Record<string, string>>
  readonly clock?: Clock
  /**
   * Returns a number in [0, 1). The numbers are used for uids, generated names, ids and jitter, but never for secrets. Default:
   * `Math.random`.
   *
   * With the same sequence of numbers, two clusters give the same uids to the objects of a type if both clusters create these objects in
   * the same order. Operations on other types have no influence on the uids. A cluster with `keepObjects` needs a different sequence at
   * each start. Otherwise new objects could get the uids of stored objects.
   */
  readonly random?: () => number
  readonly logger: Logger
}

export interface DevCluster {
  readonly url: string
  readonly port: number
  /** The number of objects that the cluster has found in its directory, and the number of their types. */
  readonly found: FoundObjects
  /** The administrator's connection. */
  readonly connection: Connection
  /** The mode in which the processes of Pods run: `namespaces` or `plain`. Undefined without the option `pods`. */
  readonly pods: ProcessPods | undefined
  /** Returns the connection of the user with the name `userName`. The option `users` must contain this user. */
  connectionFor(userName: string): Connection
  /** Returns the administrator's kubeconfig. */
  kubeconfigYaml(): string
  /** Writes the administrator's kubeconfig atomically, readable only by its owner. */
  writeKubeconfig(path: string): Promise<void>
  /**
   * Adds an entry to the option `services`. Calls to the Service `name` then go to the base URL `address`. `name` has the form
   * `namespace/name`, or `namespace/name:port` for a Service with several ports.
   */
  addService(name: string, address: string): void
  /**
   * Sets the reason why an origin such as `https://127.0.0.1:9443` cannot be reached. If `reason` is undefined, removes the reason of the
   * origin. When a call of a webhook at this origin fails, the error message contains the reason instead of the network error.
   */
  setUnreachable(origin: string, reason: string | undefined): void
  /** Ends all watches, closes all connections, and stops the controllers. Resolves within a second. */
  close(): Promise<void>
  /**
   * Drops the history of changes, like a compaction of etcd. Requests for an older resourceVersion or with an older continue token then
   * fail with 410.
   */
  compact(): void
  /** Ends all watches, as a restart of the API server would. */
  dropWatches(): void
  /** Returns a snapshot of all objects for `restore`. The snapshot stays in memory. */
  snapshot(): Promise<ClusterSnapshot>
  /**
   * Restores all objects from a snapshot of this cluster, without admission. The resourceVersion continues to increase. All watches end,
   * and clients must list again, because a watch cannot report that a deleted object exists again with the same uid. Resolves when the
   * types of restored CRDs are served.
   *
   * @throws {ProreusError} `PRO_INPUT` when the snapshot was taken from another cluster.
   */
  restore(snapshot: ClusterSnapshot): Promise<void>
  /**
   * The records of the latest requests to which the server has responded, oldest first. There are at most 10,000 records. Each string in a
   * record has at most 2048 characters.
   */
  readonly requests: readonly RequestRecord[]
}

const defaultPort = 6443
/** Maximum number of ports to try after the requested port. */
const portAttempts = 20
const maxPort = 65_535
/** Maximum number of entries in `DevCluster.requests`. */
const maxRequests = 10_000

const adminName = 'admin'

/**
 * Starts the embedded API server on the loopback interface. Resolves when the server accepts requests and the built-in objects exist.
 *
 * @throws {ProreusError} `PRO_PORT_IN_USE` when all ports that the options allow are in use.
 * @throws {ProreusError} `PRO_STATE_FILE` when the state file or the object database in `directory` cannot be used, e.g. because another
 *   process has opened the database.
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when a controller is unknown, or when `keepObjects` is set without a `directory`.
 */
export async function startDevCluster(options: DevClusterOptions): Promise<DevCluster> {
  const { clock = systemClock, logger, controllers = true } = options
  refuseOptions('startDevCluster', isControllerSelection(controllers, 'controllers'))
  const state = await openState(options.directory, { now: clock.now(), logger })
  const opened = await openStore(options, clock.now())
  try {
    return await serve(options, state, opened)
  } catch (error) {
    await opened.close()
    throw error
  }
}

async function serve(
  options: DevClusterOptions,
  { authority, token, serviceAccountKey }: ClusterState,
  { store, found, close: closeStore }: OpenedStore,
): Promise<DevCluster> {
  const { clock = systemClock, random = systemRandom, logger, users = [], nodes = defaultNodes, controllers = true } = options
  const serving = await issueServingCertificate(authority, clock.now())
  const controllerToken = newToken()
  const tokens = new Map<string, UserInfo>([
    [token, { username: 'kubernetes-admin', uid: 'kubernetes-admin', groups: [masters] }],
    [controllerToken, { username: 'system:kube-controller-manager', groups: [masters] }],
    ...users.map((user): [string, UserInfo] => [user.token, { username: user.name, uid: user.name, groups: user.groups ?? [] }]),
  ])
  const authorizer = ruleAuthorizer(users.flatMap(grantsOf), storedRules(store))
  const accounts = serviceAccountTokens({ store, clock, random, key: serviceAccountKey })
  const known = tokenAuthenticator(tokens)
  const authenticator: TokenAuthenticator = (bearer, audiences) => known(bearer, audiences) ?? accounts.authenticator(bearer, audiences)
  const catalog = new Catalog([
    ...builtinResources.map((row) => (row.storageKey === '/serviceaccounts' ? accounts.withTokens(row) : row)),
    customResourceDefinitions(clock),
    ...reviewRows(authorizer, { clock, tokens: authenticator }),
  ])
  const services: Record<string, string> = { ...options.services }
  const mapped = mappedServices(
    () => services,
    ({ namespace, name }) => store.get('/services', { namespace, name }) !== undefined,
    (service) => endpointOf(store, service),
  )
  const unreachable = new Map<string, string>()
  const caller = createWebhookCaller({ services: mapped, unreachable, clock })
  const webhooks = createWebhookAdmission({ state: storedWebhooks(store, catalog), caller, authorizer, logger, random })
  const forPods = withPodSecurity(webhooks, storedPods(store))
  const admission = withCertificateChecks(withClaimResizeCheck(forPods, storedClasses(store)), authorizer)
  const registry = new Registry({
    store,
    catalog,
    admission,
    authorizer,
    clock,
    random,
    hasServiceAccounts: isSelected(controllers, 'serviceaccount-controller'),
  })

  const requests: RequestRecord[] = []
  const onRequest = (record: RequestRecord): void => {
    requests.push(record)
    if (requests.length > maxRequests) requests.splice(0, maxRequests / 10)
  }
  let processes: Processes | undefined
  const stop = new AbortController()
  // The controller for CRDs starts before the server. The server then serves custom resources from the first request on.
  const definitions = startDefinitionController({ store, registry, catalog, caller, clock, random, logger }, stop.signal)
  const running = [definitions.ended]
  const stopControllers = async (): Promise<void> => {
    stop.abort(new ProreusError('PRO_ABORTED', 'The cluster is being closed.'))
    await Promise.all([caller.close(), ...running])
  }
  const serve = async (): Promise<ApiServer> => {
    await keepApiServices({ registry, catalog, clock, logger }, stop.signal)
    const tls = { ...serving, ca: authority.cert }
    const portFlag = options.portFlag !== undefined && { portFlag: options.portFlag }
    const runsProcesses = options.pods !== undefined && controllers !== false
    const containers = runsProcesses ? deferredAccess(() => processes?.access) : options.containers
    const access = containers !== undefined && { containers }
    return startOnFreePort(options, (port) =>
      startApiServer({ registry, catalog, tls, port, ...portFlag, ...access, tokens: authenticator, authorizer, clock, logger, onRequest }),
    )
  }
  const server = await serve().catch(async (error: unknown) => {
    await stopControllers()
    throw error
  })
  const connectionOf = (bearer: string, name: string): Connection => ({
    server: server.url,
    ca: authority.cert,
    authorization: () => Promise.resolve(`Bearer ${bearer}`),
    describe: `the embedded API server, as ${name}`,
  })

  const client = createClient(
    { ...connectionOf(controllerToken, 'system:kube-controller-manager'), dial: () => server.connect() },
    { userAgent: 'kube-controller-manager', fieldManager: 'kube-controller-manager', clock, random },
  )
  const close = async (): Promise<void> => {
    // The controllers are stopped before the server. If the server stopped first, running reconciles would fail, and their errors would be
    // logged.
    await stopControllers()
    await processes?.close()
    await Promise.all([server.close(), client.close()])
    await closeStore()
  }
  const snapshots = new Snapshots(store)
  expireEvents({ store, clock, logger }, stop.signal)
  const kubeconfig = { server: server.url, ca: authority.cert, userName: adminName, token }
  try {
    await createOwnObjects(client, options.namespaces ?? [], server.port)
    if (controllers !== false) {
      const { simulation = {} } = options
      const version = serverVersion.gitVersion
      await registerNodes(client, nodes, { now: clock.now(), version })
      await createStandardClass(client)
      if (options.pods !== undefined) {
        const { startProcesses } = await import('./pods/start-processes.ts')
        const acceptApiServer = (socket: Socket): void => server.accept(socket)
        processes = await startProcesses({
          ...options.pods,
          keepFiles: options.keepObjects === true,
          client,
          acceptApiServer,
          logger,
          clock,
          random,
        })
      }
      running.push(
        runControllers(
          {
            client,
            source: catalogTypes(catalog),
            onRestore: (listener) => snapshots.onRestore(listener),
            authority,
            version,
            simulation,
            runtime: processes?.runtime ?? simulatedRuntime({ simulation, clock, checks: referenceChecks(client) }),
            others: processes?.controllers ?? [],
            selection: controllers,
            logger,
            clock,
            random,
          },
          stop.signal,
        ),
      )
    }
  } catch (error) {
    await close()
    throw error
  }
  return {
    url: server.url,
    port: server.port,
    found,
    connection: connectionOf(token, adminName),
    pods: processes && { mode: processes.mode, plainBecause: processes.plainBecause },
    connectionFor(userName) {
      const user = users.find(({ name }) => name === userName)
      if (user === undefined)
        throw new ProreusError('PRO_INPUT', `There is no user ${JSON.stringify(userName)} in this cluster: name it in the option users.`)
      return connectionOf(user.token, user.name)
    },
    kubeconfigYaml: () => kubeconfigYaml(kubeconfig),
    writeKubeconfig: (path) => writeKubeconfig(path, kubeconfig),
    addService(name, address) {
      services[name] = address
    },
    setUnreachable(origin, reason) {
      if (reason === undefined) unreachable.delete(origin)
      else unreachable.set(origin, reason)
    },
    close,
    compact: () => store.compact(),
    dropWatches: () => registry.dropWatches(),
    snapshot: () => snapshots.take(),
    async restore(snapshot) {
      await snapshots.restore(snapshot)
      // After the compaction, a watch from an earlier revision fails with 410. A restore of etcd has the same effect (`etcdutl snapshot
      // restore --mark-compacted`).
      store.compact()
      registry.dropWatches()
      await definitions.settled()
    },
    requests,
  }
}

/** Starts the server on the requested port. If that port is in use and `portRequired` is false, tries the following ports. */
async function startOnFreePort(
  { port = defaultPort, portRequired = false }: DevClusterOptions,
  start: (port: number) => Promise<ApiServer>,
): Promise<ApiServer> {
  for (let candidate = port; ; candidate += 1) {
    try {
      return await start(candidate)
    } catch (error) {
      const isTaken = error instanceof ProreusError && error.code === 'PRO_PORT_IN_USE'
      if (!isTaken || portRequired || candidate - port >= portAttempts || candidate === maxPort) throw error
    }
  }
}

function grantsOf({ name: user, rules, namespaceRules = {} }: DevClusterUser): Grant[] {
  return [{ user, rules }, ...Object.entries(namespaceRules).map(([namespace, own]) => ({ user, namespace, rules: own }))]
}
