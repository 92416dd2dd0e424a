/**
 * A program that runs a container for each script of its second argument, a JSON array, until it is killed. The first argument is the state
 * folder. A script that begins with `tty` has a terminal.
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
