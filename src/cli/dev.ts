/** `proreus dev`: starts an embedded Kubernetes API server with a simulated node, and runs operators against it. */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { systemClock } from '../runtime/clock.ts'
import { aborted } from '../runtime/waiting.ts'
import { ProreusError, messageOf } from '../api/errors.ts'
import { version } from '../api/version.ts'
import { createClient, type Client } from '../client/client.ts'
import type { ControllerSelection } from '../devcluster/controllers/controller-selection.ts'
import type { SimulationOptions } from '../devcluster/controllers/kubelet/simulation.ts'
import type { NodeOptions } from '../devcluster/controllers/nodes/node.ts'
import type { DevCluster } from '../devcluster/dev-cluster.ts'
import type { Operator } from '../manager/operator.ts'
import { installationName } from '../manager/installation-names.ts'
import { run } from '../manager/run.ts'
import type { Endpoints } from '../manager/run-options.ts'
import { onTermination } from '../manager/termination.ts'
import { mypodOperator } from '../operators/mypod/index.ts'
import { installKinds, installWebhooks, whenTrusted } from '../manifests/install.ts'
import type { Logger } from '../telemetry/logger.ts'
import { parsePort } from './configuration.ts'
import { parseControllers, parseDelays, parseNode, parseNodeCount } from './dev-cluster-options.ts'
import { addLogOptions, loggerOf, type LogOptions } from './logging.ts'
import { ownStateFolder } from './dev-owner.ts'
import { nameOption, operatorsOption, selectOperators } from './operators.ts'
import { paint, terminalProgress, type Progress } from './progress.ts'

/** The sample custom resource in this repository, and its namespace. */
const mypodSample = { path: 'config/samples/mypod.yaml', namespace: 'test-mypod' }

interface Options extends LogOptions {
  operators?: string
  name?: string
  port?: number
  stateDir: string
  dataDir?: string
  ephemeral?: boolean
  reset?: boolean
  certDir: string
  nodes: number
  node?: readonly NodeOptions[]
  delays?: SimulationOptions
  controllers?: ControllerSelection
}

export function devCommand(): Command {
  const command = new Command('dev')
    .description(
      'Start an embedded Kubernetes API with simulated nodes and the operators, for development. Its objects are kept across restarts.',
    )
    .addOption(operatorsOption())
    .addOption(nameOption())
    .addOption(new Option('--port <port>', 'port of the API; 0: any free port (default: 6443, or the next free port)').argParser(parsePort))
    .option(
      '--state-dir <folder>',
      'folder for the kubeconfig, which exists while everything is ready; its CA and token stay valid across restarts',
      '.proreus',
    )
    .option('--data-dir <folder>', 'folder in which the objects are kept, with the CA and the tokens (default: the state folder)')
    .addOption(
      new Option('--ephemeral', 'keep the objects in memory only: none is loaded, and none survives').conflicts(['dataDir', 'reset']),
    )
    .option('--reset', 'delete the objects that are kept, and start without them')
    .option('--cert-dir <folder>', 'folder for the certificates of the webhooks', 'certs')
    .addOption(new Option('--nodes <count>', 'number of simulated nodes, in three zones').argParser(parseNodeCount).default(1))
    .addOption(
      new Option(
        '--node <node>',
        'a further node with labels and taints, e.g. gpu-1,disk=ssd,gpu=true:NoSchedule; may be repeated',
      ).argParser((text, nodes: readonly NodeOptions[] = []) => [...nodes, parseNode(text)]),
    )
    .addOption(
      new Option('--delays <delays>', 'how long the steps of simulated Pods take, e.g. schedule=1s,pull=5s,start=1s,ready=2s').argParser(
        parseDelays,
      ),
    )
    .addOption(
      new Option(
        '--controllers <list>',
        'controllers of the cluster that run, as for kube-controller-manager, e.g. *,-job-controller; "none": neither these, nor a scheduler, nor nodes (default: all)',
      ).argParser(parseControllers),
    )
  return addLogOptions(command).action(dev)
}

async function dev(options: Options): Promise<void> {
  const started = performance.now()
  const progress = terminalProgress(process.stderr)
  // On a terminal, the progress is printed instead of log lines until everything is ready.
  let starting = process.stderr.isTTY === true && options.logLevel === 'info'
  const logger = loggerOf(options, () => starting)
  const { operators, name: given } = await selectOperators(options)
  // Several operators have no common default name. `dev` can be the default here, because an embedded cluster contains only one
  // installation.
  const name = installationName(operators, given ?? (operators.length > 1 ? 'dev' : undefined))
  const termination = onTermination(logger)
  progress.say(`proreus ${version}\n`)
  const disown = await ownStateFolder(options.stateDir)
  // The kubeconfig of an earlier run is removed first. Other processes may wait for this file, so it must not exist until everything is
  // ready.
  const kubeconfig = join(options.stateDir, 'kubeconfig')
  let cluster: DevCluster
  try {
    await removeOld(kubeconfig)
    // This module is imported here, and not at the beginning of the file, because it takes 20 MB and the other commands do not need it.
    const { startDevCluster } = await import('../devcluster/dev-cluster.ts')
    const { numberedNodes } = await import('../devcluster/controllers/nodes/node.ts')
    cluster = await startDevCluster({
      directory: dataFolder(options),
      keepObjects: options.ephemeral !== true,
      reset: options.reset === true,
      logger,
      portFlag: '--port',
      nodes: [...numberedNodes(options.nodes), ...(options.node ?? [])],
      ...(options.delays !== undefined && { simulation: options.delays }),
      ...(options.controllers !== undefined && { controllers: options.controllers }),
      namespaces: operators.includes(mypodOperator) ? [mypodSample.namespace] : [],
      ...(options.port !== undefined && { port: options.port, portRequired: true }),
    })
  } catch (error) {
    await disown()
    throw error
  }
  progress.done('Kubernetes API', cluster.url)
  sayFound(cluster, options, progress, logger)
  const client = createClient(cluster.connection)
  const ready = async (): Promise<void> => {
    await cluster.writeKubeconfig(kubeconfig)
    logger.info({ kubeconfig, api: cluster.url }, 'ready')
    starting = false
    sayReady(progress, kubeconfig, operators, options, (performance.now() - started) / 1000)
  }
  try {
    await installKinds(client, operators, systemClock, { name, signal: termination.signal })
    if (operators.length === 0) {
      await ready()
      await aborted(termination.signal)
    } else {
      progress.done('custom resources', operators.flatMap(({ kinds }) => kinds.map(({ kind, group }) => `${kind}.${group}`)).join(', '))
      await runOperators(operators, { cluster, client, name, options, progress, ready, logger, signal: termination.signal })
    }
  } catch (error) {
    if (!termination.signal.aborted) throw error
  } finally {
    await client.close()
    await cluster.close()
    await rm(kubeconfig, { force: true })
    await disown()
    termination.release()
  }
}

function dataFolder({ dataDir, stateDir }: Options): string {
  return dataDir ?? stateDir
}

/** Prints and logs the objects that an earlier run has kept. */
function sayFound({ found }: DevCluster, options: Options, progress: Progress, logger: Logger): void {
  if (found.objects === 0) return
  const text = `${found.objects} objects of ${found.types} types from ${dataFolder(options)}`
  progress.done('kept objects', text)
  logger.info({ ...found, directory: dataFolder(options) }, text)
}

async function removeOld(kubeconfig: string): Promise<void> {
  try {
    await rm(kubeconfig, { force: true })
  } catch (cause) {
    const problem = `${kubeconfig} cannot be replaced: ${messageOf(cause)}: choose another folder with --state-dir.`
    throw new ProreusError('PRO_STATE_FILE', problem, { cause })
  }
}

interface Environment {
  readonly cluster: DevCluster
  readonly client: Client
  /** The name of the installation, from which the names of its objects are derived. */
  readonly name: string
  readonly options: Options
  readonly progress: Progress
  readonly logger: Logger
  readonly signal: AbortSignal
  ready(): Promise<void>
}

/** Runs the operators like `proreus run`. The embedded API server calls their webhooks over TLS on the loopback interface. */
function runOperators(
  operators: readonly Operator[],
  { cluster, client, name, options, progress, ready, logger, signal }: Environment,
): Promise<void> {
  return run(operators, {
    connection: cluster.connection,
    name,
    logger,
    signal,
    certificates: { kind: 'files', directory: options.certDir },
    webhook: { host: '127.0.0.1', port: 0 },
    probeBindAddress: '127.0.0.1:0',
    metricsBindAddress: '127.0.0.1:0',
    drainDelayMs: 0,
    saveMemory: false,
    async onServing({ webhook }: Endpoints) {
      if (webhook === undefined) return
      await installWebhooks(client, operators, { url: webhook.url }, { name, signal })
      progress.done('webhooks', webhook.url)
    },
    async onStarted({ webhook, metrics }: Endpoints) {
      if (webhook !== undefined) await whenTrusted(client, operators, systemClock, { name, signal })
      progress.done('controllers', operators.flatMap(({ controllers }) => controllers.map(({ name }) => name)).join(', '))
      if (metrics !== undefined) progress.done('metrics', `http://${metrics.host}:${metrics.port}/metrics`)
      await ready()
    },
  })
}

/** Prints that everything is ready, and the commands that the user may type next. */
function sayReady(progress: Progress, kubeconfig: string, operators: readonly Operator[], options: Options, seconds: number): void {
  const bold = (text: string): string => paint(process.stderr, 'bold', text)
  const hasSample = operators.includes(mypodOperator) && existsSync(mypodSample.path)
  const first = operators[0]?.kinds[0]
  const commands = [
    `export KUBECONFIG=${kubeconfig}`,
    ...(hasSample ? [`kubectl create -f ${mypodSample.path}`] : []),
    first === undefined ? 'kubectl get namespaces' : `kubectl get ${first.plural} -A -o wide`,
  ]
  const kept = options.ephemeral === true ? 'nothing is kept' : `its objects are kept in ${dataFolder(options)}`
  progress.say(
    `\n${bold(`Ready in ${seconds.toFixed(1)} s.`)} In another terminal:\n\n${commands.map((command) => `  ${command}`).join('\n')}\n\nCtrl-C ends it; ${kept}.\n`,
  )
}
