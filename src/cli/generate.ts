/** `proreus generate`: CRDs, webhook configurations and RBAC as files. */
import { Command } from 'commander'
import { generatedFiles, staleFiles, writeFiles } from '../manifests/tree.ts'
import { Exit } from './exit.ts'
import { operatorsHelp, selectOperators } from './operators.ts'

export function generateCommand(): Command {
  return new Command('generate')
    .description('Write the CRDs, webhook configurations and RBAC rules of the operators as YAML files.')
    .option('--operators <list>', operatorsHelp, 'all')
    .option('--output <folder>', 'where the files go', 'config')
    .option('--check', 'write nothing; exit 1 and list the files that are not up to date')
    .addHelpText(
      'after',
      '\nFiles: crd/bases/*.yaml, crd/kustomization.yaml, rbac/role.yaml, rbac/user_roles.yaml, webhook/manifests.yaml.',
    )
    .action(async ({ operators, output, check }: { operators: string; output: string; check?: true }) => {
      const files = generatedFiles(await selectOperators(operators))
      if (check !== true) {
        for (const path of await writeFiles(output, files)) process.stdout.write(`wrote ${output}/${path}\n`)
        return
      }
      const stale = await staleFiles(output, files)
      for (const path of stale) process.stdout.write(`not up to date: ${output}/${path}\n`)
      if (stale.length > 0) {
        process.stdout.write('Run "npm run generate" and commit the result.\n')
        throw new Exit(1)
      }
    })
}
