/** The types of a control plane for tests. */
import type { Client } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import type { ControllerSelection } from '../devcluster/controllers/controller-selection.ts'
import type { SimulationOptions } from '../devcluster/controllers/kubelet/simulated/simulation.ts'
import type { NodeOptions } from '../devcluster/controllers/nodes/node.ts'
import type { ProcessPods, ProcessPodsOptions } from '../devcluster/pods/start-processes.ts'
import type { ClusterSnapshot } from '../devcluster/snapshots.ts'
import type { RequestRecord } from '../devcluster/http/handle.ts'
import type { Operator } from '../manager/operator.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Environment } from './binaries.ts'
import type { FaultProxy } from './faults/fault-proxy.ts'
import type { StartedOperator, StartOperatorOptions } from './started-operator.ts'
import type { ControlPlaneServiceAccount } from './service-account.ts'
import type { ControlPlaneUser } from './users.ts'

/**
 * The implementation of the control plane. `embedded`: the API server of Proreus in this process. `binaries`: etcd and kube-apiserver, and
 * the binaries that the option `controllers` requires. `existing`: the cluster of the kubeconfig.
 */
export type ControlPlaneBackend = 'embedded' | 'binaries' | 'existing'

export interface ControlPlaneOptions {
  /** The implementation of the control plane. Default `embedded`. */
  readonly backend?: ControlPlaneBackend
  /**
   * Which components of Kubernetes run in addition to the API server. Default true. The option has no effect on an existing cluster.
   *
   * - True: the scheduler, the nodes and all controllers, e.g. for garbage collection, namespace deletion, Deployments and Jobs.
   * - False: none.
   * - A list: the scheduler, the nodes and the selected controllers. The notation is that of kube-controller-manager's flag
   *   `--controllers`: `['*', '-deployment-controller']` selects all controllers except one, and `['job-controller']` selects one
   *   controller.
   *
   * If `serviceaccount-controller` does not run, Pods can be created without a ServiceAccount.
   */
  readonly controllers?: ControllerSelection
  /**
   * Nodes to simulate. Default: one node with the label `project=test`. If `controllers` is false, or the backend is `existing`, the option
   * has no effect.
   */
  readonly nodes?: readonly NodeOptions[]
  /**
   * The durations of the steps of simulated Pods, for the backend `embedded`. By default, Pods run and are ready without delay. The option
   * has no effect on other backends.
   */
  readonly simulation?: SimulationOptions
  /**
   * Runs the containers of Pods as processes of this machine, as `proreus dev --pods=process` does. Only the backend `embedded` accepts the
   * option. With this option, only `scheduleMs` and `nodeGraceMs` of `simulation` have an effect. Default: Pods are simulated.
   */
  readonly pods?: ControlPlanePods
  /** Namespaces to create. Default none. */
  readonly namespaces?: readonly string[]
  /** Users to create in addition to the administrator. Default none. */
  readonly users?: readonly ControlPlaneUser[]
  /** ServiceAccounts to create, with the permissions to grant to them. Default none. */
  readonly serviceAccounts?: readonly ControlPlaneServiceAccount[]
  /** The logger of the control plane and of its operators. Default: a logger that writes errors as text to standard error. */
  readonly logger?: Logger
  /**
   * The clock of the embedded API server and of its controllers; also the default clock of the operators in the control plane. Timestamps
   * and the lifetimes of tokens depend on this clock. Only the backend `embedded` accepts the option. Default: the system clock.
   *
   * A `FakeClock` must start at `Date.now()`, because the API server's certificate is issued with this clock, but clients validate it with
   * the system time.
   */
  readonly clock?: Clock
  /**
   * Returns a number in [0, 1). The numbers are used for the uids and generated names of the embedded API server, for jitter and for ids,
   * but never for secrets. Only the backend `embedded` accepts the option. Operators that are started in the control plane use the function
   * by default. Default: `Math.random`.
   *
   * If the numbers are the same in two runs, the uids and generated names of a type depend only on the order in which the objects of the
   * type are created. Objects of other types have no influence.
   */
  readonly random?: () => number
  /** The environment variables with the paths of binaries and of the kubeconfig. Default: those of this process. */
  readonly env?: Environment
}

/**
 * Options of Pods that run as processes. The control plane chooses the folder for volumes and logs, and `ControlPlane.stop` removes this
 * folder.
 */
export type ControlPlanePods = Omit<ProcessPodsOptions, 'stateFolder'>

/**
 * Either the name of one of the users in the options, or a ServiceAccount (`namespace/name`). The ServiceAccount must exist before the
 * first request with this identity.
 */
export type Identity = string | { readonly serviceAccount: string }

/** A running control plane. */
export interface ControlPlane {
  readonly backend: ControlPlaneBackend
  /** The connection of the administrator. */
  readonly connection: Connection
  /** The client of the administrator. `stop` closes it. */
  readonly client: Client
  /**
   * Returns a connection with the identity of a ServiceAccount, or of a user that `ControlPlaneOptions.users` contains. The connection can
   * be passed to `createClient`, or to an operator under test.
   *
   * @example
   * const reader = createClient(controlPlane.connectionFor('reader'))
   * const operator = createClient(controlPlane.connectionFor({ serviceAccount: 'system/operator' }))
   *
   * @throws {ProreusError} `PRO_INPUT` when `users` does not contain the user, or the ServiceAccount is not in the form `namespace/name`.
   */
  connectionFor(identity: Identity): Connection
  /** The mode of the Pods that run as processes: `namespaces` or `plain`. Undefined when Pods are simulated, and for a real API server. */
  readonly pods: ProcessPods | undefined
  /** The path of the administrator's kubeconfig, for the environment variable KUBECONFIG. */
  readonly kubeconfig: string
  /**
   * Returns the requests that the API server has served, sorted by the millisecond in which the server received them. Requests of the same
   * millisecond may be in any order. The servers differ:
   *
   * - A real API server records a watch when the response begins. The returned records can contain audit annotations.
   * - The embedded API server records a watch when the response ends, and keeps at most the latest 10,000 requests.
   *
   * Rejects with `PRO_INPUT` for an existing cluster, because Proreus does not record the requests to such a cluster.
   */
  requests(): Promise<readonly RequestRecord[]>
  /**
   * Compacts the storage. Requests with an older continue token or resourceVersion then fail with 410. A real API server differs:
   *
   * - The API server begins to reject these requests a moment later.
   * - The API server accepts a watch if the resourceVersion is still in its watch cache.
   *
   * Rejects with `PRO_INPUT` for an existing cluster.
   */
  compact(): Promise<void>
  /**
   * Returns a snapshot of all objects, for `restore`. Rejects with `PRO_INPUT` for a real API server and for an existing cluster.
   *
   * @example
   * const clean = await controlPlane.snapshot()
   * afterEach(() => controlPlane.restore(clean))
   */
  snapshot(): Promise<ClusterSnapshot>
  /**
   * Sets all objects back to a snapshot of this control plane, without admission. Before the call, stop the operators, or wait until they
   * have finished writing.
   *
   * - The objects have the same uids as in the snapshot.
   * - The resourceVersion continues to increase.
   * - All watches end, and caches list again. Controllers then reconcile the objects that differ.
   *
   * Rejects with `PRO_INPUT` for a snapshot of another control plane.
   */
  restore(snapshot: ClusterSnapshot): Promise<void>
  /**
   * Starts a proxy that injects faults between clients and this control plane. Give the proxy's `connection` or `kubeconfig` to the code
   * under test, and use the `client` of the control plane in the test itself. The proxy stops when the control plane stops.
   *
   * @example
   * const proxy = await controlPlane.faultProxy()
   * proxy.answer(503, { count: 3 })
   * proxy.cut()
   */
  faultProxy(): Promise<FaultProxy>
  /**
   * Installs the CRDs and webhook configurations of operators, and runs the operators in this process with their own certificates. Resolves
   * when the servers and controllers have been started and the webhooks have a `caBundle`. The operators stop before the control plane.
   *
   * The caches may not have synced yet. A real API server begins to call the webhooks a moment later. Use `until` to wait until the webhooks
   * take effect. The API server of an existing cluster must be able to connect to the loopback interface of this machine.
   *
   * @example
   * const operator = await controlPlane.startOperator([hello])
   *
   * @throws {ProreusError} when the installation or the start fails, e.g. `PRO_PERMISSION` or `PRO_CONFIG_INVALID`.
   */
  startOperator(operators: readonly Operator[], options?: StartOperatorOptions): Promise<StartedOperator>
  /**
   * Stops all operators, proxies and processes that were started, and removes their files. In an existing cluster, `stop` also deletes the
   * objects that `startControlPlane` has created, such as the namespaces in the options.
   */
  stop(): Promise<void>
}

/** A control plane without the methods `faultProxy` and `startOperator`. */
export type BareControlPlane = Omit<ControlPlane, 'faultProxy' | 'startOperator'>
