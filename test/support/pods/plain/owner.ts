/**
 * A program that runs containers until it is killed. Its arguments are the state folder, and a JSON array of the scripts of the containers.
 * A container whose script begins with `tty ` has a terminal. The program prints `ready` when all containers have started.
 */
import { createPlainDriver } from '../../../../src/devcluster/pods/plain/plain-driver.ts'
import { shell } from './container.ts'

const [stateFolder = '', scripts = '[]'] = process.argv.slice(2)
const driver = await createPlainDriver({ stateFolder })
const pod = await driver.createSandbox({ hostname: 'a', address: '10.244.0.2', hostNetwork: false })
for (const script of JSON.parse(scripts) as string[]) {
  const { stdout, exited } = await pod.start(shell(script.replace(/^tty /, ''), { tty: script.startsWith('tty ') }))
  stdout.resume()
  void exited
}
process.stdout.write('ready\n')
