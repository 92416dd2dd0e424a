/** The types of a control plane for tests. */
import type { Client } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import type { NodeOptions } from '../devcluster/controllers/node.ts'
import type { RequestRecord } from '../devcluster/http/handle.ts'
import type { Operator } from '../manager/operator.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Environment } from './binaries.ts'
import type { FaultProxy } from './faults/fault-proxy.ts'
import type { StartedOperator, StartOperatorOptions } from './started-operator.ts'
import type { ControlPlaneServiceAccount } from './service-account.ts'
import type { ControlPlaneUser } from './users.ts'

/**
 * `embedded`: the API server of Proreus in this process. `binaries`: etcd, kube-apiserver and further programs. `existing`: the cluster of
 * the kubeconfig.
 */
export type ControlPlaneBackend = 'embedded' | 'binaries' | 'existing'

export interface ControlPlaneOptions {
  /** Default `embedded`. */
  readonly backend?: ControlPlaneBackend
  /** True to run controllers for garbage collection, namespace deletion, ServiceAccounts and scheduling. Default true. */
  readonly controllers?: boolean
  /** Simulated nodes, when there are controllers. Default: one node with the label `project=test`. An existing cluster has its own. */
  readonly nodes?: readonly NodeOptions[]
  /** Namespaces to create. Default none. */
  readonly namespaces?: readonly string[]
  /** Users besides the administrator. Default none. */
  readonly users?: readonly ControlPlaneUser[]
  /** ServiceAccounts to create, with their permissions. Default none. */
  readonly serviceAccounts?: readonly ControlPlaneServiceAccount[]
  /** The logger. Default: no output. */
  readonly logger?: Logger
  /** The environment with the paths of programs and of the kubeconfig. Default: that of this process. */
  readonly env?: Environment
}

/** The name of one of the users in the options, or a ServiceAccount (`namespace/name`), which must exist when the first request is made. */
export type Identity = string | { readonly serviceAccount: string }

/** A running control plane. */
export interface ControlPlane {
  readonly backend: ControlPlaneBackend
  /** The administrator's connection. */
  readonly connection: Connection
  /** The administrator's client; it is closed with the control plane. */
  readonly client: Client
  /**
   * Returns a connection with the identity of a user in the options, or of a ServiceAccount, for `createClient` or for an operator under
   * test.
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
   * Returns the answered requests, oldest first: time, verb, user, path, query and status code; with a real API server, audit annotations,
   * too. A watch is recorded when its response begins (real API server) or ends (embedded API server). Rejects with `PRO_INPUT` for an
   * existing cluster, whose requests are not recorded.
   */
  requests(): Promise<readonly RequestRecord[]>
  /**
   * Compacts the storage. After that (with a real API server: some moments later), requests with a continue token or resourceVersion from before get 410. An existing cluster does
   * not support this.
   */
  compact(): Promise<void>
  /**
   * Starts a proxy in front of this control plane that injects faults. Give its `connection` or `kubeconfig` to the code under test, and
   * use `client` in the test itself. The proxy stops with the control plane.
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

/** A control plane without the methods that start something beside it. */
export type BareControlPlane = Omit<ControlPlane, 'faultProxy' | 'startOperator'>
