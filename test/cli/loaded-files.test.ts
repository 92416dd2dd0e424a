/** Tests of the files that a command line loads. Each file that is loaded without need makes the start slower. */
import t from 'tap'
import { loadedFiles, packagesOf } from '../support/process/loaded-files.ts'

const bin = 'src/cli/bin.ts'

t.test('the version needs no command', async (t) => {
  const files = await loadedFiles(bin, ['--version'])
  t.ok(files.includes('src/cli/main.ts'))
  t.strictSame([...packagesOf(files)], ['commander'])
  t.strictSame(
    files.filter((file) => file.startsWith('src/') && !/^src\/(cli|api)\//.test(file)),
    [],
  )
})

t.test('the help of a command needs no other command, and no embedded API server', async (t) => {
  const files = await loadedFiles(bin, ['dev', '--help'])
  const commands = ['dev', 'run', 'validate', 'generate', 'certs'].filter((name) => files.includes(`src/cli/${name}.ts`))
  t.strictSame(commands, ['dev'])
  t.notOk(files.includes('src/devcluster/dev-cluster.ts'))
})
