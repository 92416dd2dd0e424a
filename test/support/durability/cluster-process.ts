/**
 * A process with an embedded cluster. The cluster keeps its objects in the folder of the first argument. The process writes the kubeconfig
 * to that folder and prints a line. It runs until it is killed, or until the process that started it ends.
 */
import { join } from 'node:path'
import { startDevCluster } from '../../../src/devcluster/dev-cluster.ts'
import { createLogger } from '../../../src/telemetry/logger.ts'

const directory = process.argv[2]!
const cluster = await startDevCluster({
  port: 0,
  directory,
  keepObjects: true,
  controllers: false,
  logger: createLogger({ level: 'warn', pretty: true }),
})
await cluster.writeKubeconfig(join(directory, 'kubeconfig'))
process.stdin.resume().once('close', () => process.exit())
process.stdout.write('ready\n')
