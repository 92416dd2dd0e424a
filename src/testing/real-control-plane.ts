/**
 * A control plane of real binaries on loopback: etcd and kube-apiserver, and optionally kube-controller-manager, kube-scheduler and kwok.
 */
import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { node as nodeType, serviceAccount } from '../api/builtin.ts'
import { systemClock } from '../runtime/clock.ts'
import { newToken } from '../runtime/random.ts'
import { sleep } from '../runtime/waiting.ts'
import { ProreusError, messageOf } from '../api/errors.ts'
import type { Client } from '../client/client.ts'
import { createClient } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import { issueAuthority } from '../certs/issue.ts'
import type { ControllerSelection } from '../devcluster/controllers/controller-selection.ts'
import { isSelected } from '../devcluster/controllers/controller-selection.ts'
import { kubeletAnnotation, registerNodes } from '../devcluster/controllers/nodes/node.ts'
import type { NodeOptions } from '../devcluster/controllers/nodes/node.ts'
import { kubeconfigYaml } from '../devcluster/state/kubeconfig.ts'
import { issueServingCertificate } from '../devcluster/state/state.ts'
import type { Logger } from '../telemetry/logger.ts'
import { auditPolicy, readAuditLog } from './audit.ts'
import type { Environment, ProgramName } from './binaries.ts'
import { programVersion, requirePrograms } from './binaries.ts'
import { compactEtcd } from './compact-etcd.ts'
import type { BareControlPlane } from './control-plane-types.ts'
import { kwokConfiguration } from './kwok-stages.ts'
import { Processes } from './processes.ts'
import type { StartedProgram } from './processes.ts'
import type { ControlPlaneServiceAccount } from './service-account.ts'
import { createServiceAccounts, withToken } from './service-account.ts'
import type { ControlPlaneUser } from './users.ts'
import { createNamespaces, grant } from './users.ts'
import { listen } from '../runtime/listen.ts'
import { withoutSnapshots } from './without-snapshots.ts'

export interface RealControlPlaneOptions {
  readonly controllers: ControllerSelection
  readonly nodes: readonly NodeOptions[]
  readonly namespaces: readonly string[]
  readonly users: readonly ControlPlaneUser[]
  readonly serviceAccounts: readonly ControlPlaneServiceAccount[]
  readonly logger: Logger
  readonly env: Environment
}

/** Time limit in milliseconds for the start. The start takes 5 s on an idle machine, and longer on a busy machine. */
const readyDeadlineMs = 60_000
const pollMs = 50
/** Number of attempts to start. An attempt fails when another process takes a chosen port before the binary listens on this port. */
const attempts = 3

const masters = 'system:masters'
const adminName = 'admin'
/**
 * The administrator, kube-controller-manager, kube-scheduler and kwok authenticate to the API server as these users. All users except
 * `system:kube-scheduler` are in the group `system:masters`.
 *
 * The default ClusterRole of `system:kube-scheduler` is sufficient. `system:kube-controller-manager` needs more permissions than its
 * default ClusterRole has, because all controllers send their requests as this user (`--use-service-account-credentials=false`).
 */
const ownUsers = [
  { name: 'kubernetes-admin', groups: [masters], as: adminName },
  { name: 'system:kube-controller-manager', groups: [masters], as: 'kube-controller-manager' },
  { name: 'system:kube-scheduler', groups: [], as: 'kube-scheduler' },
  { name: 'kwok', groups: [masters], as: 'kwok' },
] as const
type OwnUser = (typeof ownUsers)[number]['as']

/**
 * Starts the binaries. Resolves when the API server is ready, and the namespaces, users, ServiceAccounts and nodes exist.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when a binary is missing, `PRO_API_UNREACHABLE` when a binary does not start.
 */
export async function startRealControlPlane(options: RealControlPlaneOptions): Promise<BareControlPlane> {
  const needed: ProgramName[] = ['etcd', 'kube-apiserver']
  if (options.controllers !== false) needed.push('kube-controller-manager', 'kube-scheduler')
  if (hasNodes(options)) needed.push('kwok')
  const paths = await requirePrograms(needed, options.env)
  for (let attempt = 1; ; attempt += 1) {
    const processes = await Processes.create(options.logger)
    try {
      return await start(options, paths, processes)
    } catch (error) {
      await processes.stop()
      if (attempt === attempts || !/address already in use/.test(messageOf(error))) throw error
    }
  }
}

function hasNodes({ controllers, nodes }: RealControlPlaneOptions): boolean {
  return controllers !== false && nodes.length > 0
}

async function start(
  options: RealControlPlaneOptions,
  paths: Readonly<Record<ProgramName, string>>,
  processes: Processes,
): Promise<BareControlPlane> {
  const { users, logger } = options
  const { directory } = processes
  const file = (name: string): string => join(directory, name)
  const authority = await issueAuthority(systemClock.now())
  const serving = await issueServingCertificate(authority, systemClock.now())
  const [etcdPort, etcdPeerPort, port] = await freePorts(3)
  const server = `https://127.0.0.1:${port!}`
  const tokens = new Map<OwnUser, string>(ownUsers.map(({ as }) => [as, newToken()]))
  const userTokens = new Map(users.map(({ name }) => [name, newToken()]))
  await writeFiles(directory, {
    'ca.crt': authority.cert,
    'ca.key': authority.key,
    'tls.crt': serving.cert,
    'tls.key': serving.key,
    ...serviceAccountKeys(),
    'audit-policy.yaml': auditPolicy,
    'kwok.yaml': kwokConfiguration,
    'tokens.csv': [
      ...ownUsers.map(({ name, groups, as }) => tokenLine(tokens.get(as)!, name, groups)),
      ...users.map(({ name, groups = [] }) => tokenLine(userTokens.get(name)!, name, groups)),
    ].join('\n'),
    ...Object.fromEntries(
      ownUsers.map(({ as }) => [`${as}.kubeconfig`, kubeconfigYaml({ server, ca: authority.cert, userName: as, token: tokens.get(as)! })]),
    ),
  })
  const connectionOf = (token: string, name: string): Connection => ({
    server,
    ca: authority.cert,
    authorization: () => Promise.resolve(`Bearer ${token}`),
    describe: `the control plane of the test, as ${name}`,
  })
  const connection = connectionOf(tokens.get(adminName)!, adminName)

  const etcdUrl = `http://127.0.0.1:${etcdPort!}`
  const started = [
    await processes.start('etcd', paths.etcd, etcdArguments(file('etcd'), etcdUrl, `http://127.0.0.1:${etcdPeerPort!}`)),
    await processes.start('kube-apiserver', paths['kube-apiserver'], apiServerArguments(file, etcdUrl, port!, options.controllers)),
  ]
  const client = createClient(connection, { userAgent: 'proreus-testing' })
  try {
    await until(started, 'the API server is ready', async () => (await client.raw('/readyz')) === 'ok')
    logger.debug({ server, directory }, 'the API server is ready')
    if (options.controllers !== false) {
      started.push(
        await processes.start(
          'kube-controller-manager',
          paths['kube-controller-manager'],
          controllerManagerArguments(file, options.controllers),
        ),
        await processes.start('kube-scheduler', paths['kube-scheduler'], schedulerArguments(file)),
      )
    }
    await createNamespaces(client, options.namespaces)
    await grant(client, users, 'proreus-test')
    await createServiceAccounts(client, options.serviceAccounts)
    if (hasNodes(options)) {
      started.push(await processes.start('kwok', paths.kwok, kwokArguments(file)))
      await registerNodes(client, options.nodes, { now: systemClock.now(), version: programVersion('kube-apiserver', options.env) })
    }
    if (options.controllers !== false) await controllersAreUp(client, started, options)
  } catch (error) {
    await client.close()
    throw error
  }
  return {
    backend: 'binaries',
    client,
    connection,
    pods: undefined,
    kubeconfig: file(`${adminName}.kubeconfig`),
    connectionFor(identity) {
      if (typeof identity !== 'string') return withToken(client, connection, identity.serviceAccount)
      const token = userTokens.get(identity)
      if (token === undefined)
        throw new ProreusError(
          'PRO_INPUT',
          `There is no user ${JSON.stringify(identity)} in this control plane: name it in the option users.`,
        )
      return connectionOf(token, identity)
    },
    requests: () => readAuditLog(file('audit.log')),
    compact: () => compactEtcd(etcdUrl),
    ...withoutSnapshots,
    async stop() {
      await Promise.all([client.close(), processes.stop()])
    },
  }
}

/** The taint of a new node. kube-controller-manager removes the taint when the node is ready. */
const newNodeTaint = 'node.kubernetes.io/not-ready'

/**
 * Waits until Pods can be created and can run. Each condition applies only if its controller is selected:
 *
 * - `serviceaccount-controller`: each namespace has the default ServiceAccount.
 * - `node-lifecycle-controller`: no node has the taint of a new node.
 */
async function controllersAreUp(client: Client, started: readonly StartedProgram[], options: RealControlPlaneOptions): Promise<void> {
  const { controllers, nodes, namespaces } = options
  for (const namespace of isSelected(controllers, 'serviceaccount-controller') ? ['default', ...namespaces] : [])
    await until(started, `the namespace ${namespace} has its ServiceAccount`, async () => {
      await client.get(serviceAccount, { namespace, name: 'default' })
      return true
    })
  if (nodes.length === 0 || !isSelected(controllers, 'node-lifecycle-controller')) return
  await until(started, 'the nodes are ready', async () => {
    const { items } = await client.list(nodeType)
    return items.every(({ spec }) => (spec?.taints ?? []).every(({ key }) => key !== newNodeTaint))
  })
}

async function until(started: readonly StartedProgram[], what: string, probe: () => Promise<boolean>): Promise<void> {
  const deadline = systemClock.monotonicNow() + readyDeadlineMs
  let last: unknown
  for (;;) {
    const ended = started.find((program) => program.hasEnded())
    if (ended !== undefined) throw new ProreusError('PRO_API_UNREACHABLE', `${ended.name} has ended at its start:\n${ended.lastOutput()}`)
    try {
      if (await probe()) return
    } catch (error) {
      last = error
    }
    if (systemClock.monotonicNow() > deadline) {
      const words = started.map((program) => `${program.name}:\n${program.lastOutput()}`).join('\n')
      const problem = `The control plane did not start: not within ${readyDeadlineMs / 1000} s until ${what}.\n${words}`
      throw new ProreusError('PRO_API_UNREACHABLE', problem, { cause: last })
    }
    await sleep(systemClock, pollMs)
  }
}

function etcdArguments(data: string, client: string, peer: string): string[] {
  return [
    `--data-dir=${data}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    // Without fsync, a crash of the machine may lose data. For a test, this is acceptable.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ]
}

function apiServerArguments(file: (name: string) => string, etcd: string, port: number, controllers: ControllerSelection): string[] {
  return [
    `--etcd-servers=${etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${file('tls.crt')}`,
    `--tls-private-key-file=${file('tls.key')}`,
    '--authorization-mode=RBAC',
    `--token-auth-file=${file('tokens.csv')}`,
    `--client-ca-file=${file('ca.crt')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('sa.pub')}`,
    `--service-account-signing-key-file=${file('sa.key')}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    // The advertised address is a loopback address, which Endpoints must not contain. With the value `none`, kube-apiserver writes no
    // Endpoints for the Service "kubernetes".
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    // Without kube-proxy, the cluster IPs of Services are unreachable, so kube-apiserver must connect to the endpoints directly.
    '--enable-aggregator-routing=true',
    '--allow-privileged=true',
    `--audit-policy-file=${file('audit-policy.yaml')}`,
    `--audit-log-path=${file('audit.log')}`,
    // The admission plugin ServiceAccount rejects a Pod if its ServiceAccount does not exist. Without `serviceaccount-controller`, no
    // namespace gets the ServiceAccount `default`, and the plugin would reject all Pods that use `default`.
    ...(isSelected(controllers, 'serviceaccount-controller') ? [] : ['--disable-admission-plugins=ServiceAccount']),
  ]
}

function controllerManagerArguments(file: (name: string) => string, controllers: ControllerSelection): string[] {
  return [
    `--kubeconfig=${file('kube-controller-manager.kubeconfig')}`,
    `--service-account-private-key-file=${file('sa.key')}`,
    `--root-ca-file=${file('ca.crt')}`,
    `--cluster-signing-cert-file=${file('ca.crt')}`,
    `--cluster-signing-key-file=${file('ca.key')}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    '--use-service-account-credentials=false',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
    ...(typeof controllers === 'boolean' ? [] : [`--controllers=${controllers.join(',')}`]),
  ]
}

function schedulerArguments(file: (name: string) => string): string[] {
  return [`--kubeconfig=${file('kube-scheduler.kubeconfig')}`, '--leader-elect=false', '--bind-address=127.0.0.1', '--secure-port=0']
}

function kwokArguments(file: (name: string) => string): string[] {
  return [
    `--kubeconfig=${file('kwok.kubeconfig')}`,
    `--config=${file('kwok.yaml')}`,
    // kwok ignores a node with this annotation. In the embedded cluster, the annotation stops the simulated kubelet of the node.
    `--manage-nodes-with-annotation-selector=!${kubeletAnnotation}`,
    '--cidr=10.244.0.1/16',
    '--node-port=0',
  ]
}

function tokenLine(token: string, name: string, groups: readonly string[]): string {
  return `${token},${name},${name}${groups.length === 0 ? '' : `,"${groups.join(',')}"`}`
}

function serviceAccountKeys(): Readonly<Record<'sa.key' | 'sa.pub', string>> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  return { 'sa.key': privateKey, 'sa.pub': publicKey }
}

async function writeFiles(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  await Promise.all(Object.entries(files).map(([name, content]) => writeFile(join(directory, name), content, { mode: 0o600 })))
}

/** Resolves with `count` different free ports. The servers listen until all ports have been chosen. Therefore, no port is chosen twice. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(servers.map((server) => listen(server, { host: '127.0.0.1', port: 0 })))
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
