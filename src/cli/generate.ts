/** `proreus generate`: writes the CRDs, webhook configurations and RBAC rules of operators as YAML files. */
import { Command } from 'commander'
import { Exit } from './exit.ts'
import { nameOption, operatorsOption, selectOperators } from './operators.ts'

export function generateCommand(): Command {
  return new Command('generate')
    .description('Write the CRDs, webhook configurations and RBAC rules of the operators as YAML files.')
    .addOption(operatorsOption())
    .addOption(nameOption())
    .option('--output <folder>', 'folder for the files', 'config')
    .option('--check', 'write nothing; list the files that are out of date, and exit with 1')
    .addHelpText(
      'after',
      '\nFiles: crd/bases/*.yaml, crd/kustomization.yaml, rbac/role.yaml, rbac/role_binding.yaml, rbac/leader_election_role.yaml, rbac/metrics_reader_role.yaml, rbac/user_roles.yaml, rbac/webhook_ca_role.yaml, webhook/manifests.yaml.',
    )
    .action(async ({ output, check, ...selection }: { operators?: string; name?: string; output: string; check?: true }) => {
      const { operators, name } = await selectOperators(selection)
      const { generatedFiles, staleFiles, writeFiles } = await import('../manifests/tree.ts')
      const files = generatedFiles(operators, name)
      if (check !== true) {
        for (const path of await writeFiles(output, files)) process.stdout.write(`wrote ${output}/${path}\n`)
        return
      }
      const stale = await staleFiles(output, files)
      for (const path of stale) process.stdout.write(`not up to date: ${output}/${path}\n`)
      if (stale.length > 0) {
        process.stdout.write('Run the same command without --check and commit the result.\n')
        throw new Exit(1)
      }
    })
}
