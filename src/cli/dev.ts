/** `proreus dev`: starts an embedded Kubernetes API server with simulated nodes, and runs operators against this API server. */
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Command, Option } from 'commander'
import { systemClock } from '../runtime/clock.ts'
import { ProreusError, messageOf } from '../api/errors.ts'
import { version } from '../api/version.ts'
import type { SimulationOptions } from '../devcluster/controllers/kubelet/simulated/simulation.ts'
import type { NodeOptions } from '../devcluster/controllers/nodes/node.ts'
import type { DevCluster } from '../devcluster/dev-cluster.ts'
import { onTermination } from '../manager/termination.ts'
import type { Logger } from '../telemetry/logger.ts'
import { parsePort } from './configuration.ts'
import { parseControllers, parseDelays, parseImage, parseNode, parseNodeCount } from './dev-cluster-options.ts'
import type { NextSteps } from './dev-operators.ts'
import { runDevOperators, selectDevOperators } from './dev-operators.ts'
import { addLogOptions, loggerOf, type LogOptions } from './logging.ts'
import { ownStateFolder } from './dev-owner.ts'
import { nameOption, operatorsOption, selectsOperators } from './operators.ts'
import { sayCapabilities } from './pod-capabilities.ts'
import { paint, terminalProgress, type Progress } from './progress.ts'
import { runWatchedOperators } from './watch/watched-operators.ts'

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
  controllers?: string
  watch?: boolean
  pods: 'simulated' | 'process'
  podsImage?: Readonly<Record<string, string>>
  check?: boolean
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
        '--pods <mode>',
        'how containers run; process: as processes of your own user on this machine. Run only programs that you trust: they are not isolated like containers',
      )
        .choices(['simulated', 'process'])
        .default('simulated'),
    )
    .addOption(
      new Option(
        '--pods-image <image>',
        'with --pods=process: NAME=FOLDER, the folder that is the file system of an image, with its OCI configuration in FOLDER.json; may be repeated',
      ).argParser(parseImage),
    )
    .option('--check', 'with --pods=process: show what this machine can do for Pods, and end')
    .option('--watch', 'restart the operators, and nothing else, when one of their source files changes')
    .addOption(
      new Option(
        '--controllers <list>',
        'controllers of the cluster that run, as for kube-controller-manager, e.g. *,-job-controller; "none": neither these, nor a scheduler, nor nodes (default: all)',
      ),
    )
  return addLogOptions(command).action(dev)
}

async function dev(options: Options): Promise<void> {
  if (options.pods !== 'process' && (options.check === true || options.podsImage !== undefined))
    throw new ProreusError('PRO_CONFIG_INVALID', '--check and --pods-image have a meaning only with --pods=process.')
  if (options.check === true) return sayCapabilities()
  const started = performance.now()
  const progress = terminalProgress(process.stderr)
  // If stderr is a terminal and the log level is `info`, the progress is printed instead of log lines until everything is ready.
  let starting = process.stderr.isTTY === true && options.logLevel === 'info'
  const logger = loggerOf(options, () => starting)
  // With `--watch`, another process loads the operators. If no operators are selected, there is nothing to watch.
  const isWatched = options.watch === true && selectsOperators(options)
  const operators = isWatched ? undefined : await selectDevOperators(options)
  const termination = onTermination(logger)
  const { signal } = termination
  progress.say(`proreus ${version}\n`)
  const disown = await ownStateFolder(options.stateDir)
  // The kubeconfig of an earlier run is removed before the cluster starts. Other processes may wait for this file, so the file must not
  // exist until everything is ready.
  const kubeconfig = join(options.stateDir, 'kubeconfig')
  let cluster: DevCluster
  try {
    await removeOld(kubeconfig)
    cluster = await startCluster(options, logger)
  } catch (error) {
    await disown()
    throw error
  }
  progress.done('Kubernetes API', cluster.url)
  sayFound(cluster, options, progress, logger)
  sayPods(cluster, progress, logger)
  const { certDir, logLevel, logFormat } = options
  const running = {
    connection: cluster.connection,
    certDir,
    logger,
    signal,
    done: (step: string, detail: string) => progress.done(step, detail),
    ready: async (next: NextSteps): Promise<void> => {
      await cluster.writeKubeconfig(kubeconfig)
      logger.info({ kubeconfig, api: cluster.url }, 'ready')
      starting = false
      sayReady(progress, kubeconfig, next, options, (performance.now() - started) / 1000)
    },
  }
  try {
    if (operators !== undefined) await runDevOperators({ ...operators, ...running })
    else {
      const selection = { operators: options.operators, name: options.name }
      const log = { logLevel, logFormat }
      const { setUnreachable } = cluster
      await runWatchedOperators({ ...running, selection, log, clock: systemClock, setUnreachable, say: sayOn(progress, logger) })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await cluster.close()
    await rm(kubeconfig, { force: true })
    await disown()
    termination.release()
  }
}

async function startCluster(options: Options, logger: Logger): Promise<DevCluster> {
  // These modules are imported here, and not at the beginning of the file, because they need 20 MB of memory, and the other commands do not
  // use them.
  const { startDevCluster } = await import('../devcluster/dev-cluster.ts')
  const { numberedNodes } = await import('../devcluster/controllers/nodes/node.ts')
  return startDevCluster({
    directory: dataFolder(options),
    keepObjects: options.ephemeral !== true,
    reset: options.reset === true,
    logger,
    portFlag: '--port',
    ...(options.pods === 'process' && {
      pods: { stateFolder: podsFolder(options), ...(options.podsImage !== undefined && { images: options.podsImage }) },
    }),
    nodes: [...numberedNodes(options.nodes), ...(options.node ?? [])],
    ...(options.delays !== undefined && { simulation: options.delays }),
    ...(options.controllers !== undefined && { controllers: await parseControllers(options.controllers) }),
    ...(options.port !== undefined && { port: options.port, portRequired: true }),
  })
}

/** Returns a function that prints a line if stderr is a terminal. If stderr is not a terminal, the function logs the line. */
function sayOn(progress: Progress, logger: Logger) {
  return (line: string, level: 'info' | 'error'): void => {
    if (process.stderr.isTTY !== true) return logger[level](line)
    progress.say(level === 'info' ? `${line}.` : paint(process.stderr, 'red', `${line}.`))
  }
}

function dataFolder({ dataDir, stateDir }: Options): string {
  return dataDir ?? stateDir
}

/**
 * Returns the path of the folder for the files of Pods and PersistentVolumes. When the cluster starts, it removes the files of Pods and
 * PersistentVolumes that do not exist in the cluster. With `--ephemeral`, the cluster starts without the objects of earlier runs. The
 * cluster then uses a separate folder, so that the files of earlier runs without `--ephemeral` are kept.
 */
function podsFolder(options: Options): string {
  return resolve(dataFolder(options), options.ephemeral === true ? 'ephemeral-pods' : 'pods')
}

/**
 * Prints and logs the number of objects that the cluster has found in the data folder at its start. If the cluster has found no objects,
 * nothing is printed or logged.
 */
function sayFound({ found }: DevCluster, options: Options, progress: Progress, logger: Logger): void {
  if (found.objects === 0) return
  const text = `${found.objects} objects of ${found.types} types from ${dataFolder(options)}`
  progress.done('kept objects', text)
  logger.info({ ...found, directory: dataFolder(options) }, text)
}

/** Prints and logs how Pods run. If the Pods are simulated, nothing is printed or logged. */
function sayPods({ pods }: DevCluster, progress: Progress, logger: Logger): void {
  if (pods === undefined) return
  const where =
    pods.mode === 'namespaces' ? 'with networks and file systems of their own' : 'without networks and file systems of their own'
  const text = `processes of your user, ${where}: run only programs that you trust`
  progress.done('Pods', text)
  logger.info({ mode: pods.mode, ...(pods.plainBecause !== undefined && { reason: pods.plainBecause }) }, `Pods are ${text}`)
  if (pods.plainBecause !== undefined)
    progress.say(`  ${pods.plainBecause}. \`proreus dev --pods=process --check\` shows what would change it.`)
}

async function removeOld(kubeconfig: string): Promise<void> {
  try {
    await rm(kubeconfig, { force: true })
  } catch (cause) {
    const problem = `${kubeconfig} cannot be replaced: ${messageOf(cause)}: choose another folder with --state-dir.`
    throw new ProreusError('PRO_STATE_FILE', problem, { cause })
  }
}

/** Prints a message that everything is ready, and suggests the next commands to the user. */
function sayReady(progress: Progress, kubeconfig: string, { resource, sample }: NextSteps, options: Options, seconds: number): void {
  const bold = (text: string): string => paint(process.stderr, 'bold', text)
  const commands = [
    `export KUBECONFIG=${kubeconfig}`,
    ...(sample === undefined ? [] : [`kubectl create -f ${sample}`]),
    resource === undefined ? 'kubectl get namespaces' : `kubectl get ${resource} -A -o wide`,
  ]
  const kept = options.ephemeral === true ? 'nothing is kept' : `its objects are kept in ${dataFolder(options)}`
  progress.say(
    `\n${bold(`Ready in ${seconds.toFixed(1)} s.`)} In another terminal:\n\n${commands.map((command) => `  ${command}`).join('\n')}\n\nCtrl-C ends it; ${kept}.\n`,
  )
}
