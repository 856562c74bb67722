# A hostile repository, and the calls of git that would run what its configuration names.
# Every program that is named writes its name to `ran`; `$1` is a file of settings. With `$2`, only
# ordinary calls are made.
set -u
cd "$HOME" || exit 9
top=$HOME/carriers
rm -rf "$top"
mkdir -p "$top" && cd "$top" || exit 9
canary=$top/canary
printf '#!/bin/sh\necho "$1" >> %s/ran\n' "$top" > "$canary"
chmod +x "$canary"
: > ran

me=(-c user.name=a -c user.email=a@a.example)
plain() { git "${me[@]}" "$@" < /dev/null; }
names="applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg
    commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update
    proc-receive post-receive post-update reference-transaction push-to-checkout pre-auto-gc
    post-rewrite post-index-change fsmonitor-watchman"
add_hooks() {
    mkdir -p "$1"
    for name in $names; do
        printf '#!/bin/sh\necho hook.%s >> %s/ran\n' "$name" "$top" > "$1/$name"
        chmod +x "$1/$name"
    done
}

{
    plain init -q inner && cd inner && echo a > a && echo '* filter=x diff=x merge=x' > .gitattributes
    plain add . && plain commit -qm one && cd ..
    plain init -q -b main work && cd work && seq 9 > a && echo '* filter=x diff=x merge=x' > .gitattributes
    printf 'a\0b' > bin && plain add . && plain commit -qm one
    plain checkout -qb side && sed -i 1s/1/b/ a && plain commit -qam two && plain checkout -q main
    sed -i 9s/9/c/ a && plain commit -qam three
    plain -c protocol.file.allow=always submodule add -q "$top/inner" sub && plain commit -qm sub
    plain tag t && cd ..
    plain clone -q --bare work bare.git
    cd work && plain remote add origin "$top/bare.git" && plain fetch -q origin && cd ..
} > setup 2>&1 || { cat setup; exit 8; }

for folder in work/.git work/.git/modules/sub bare.git; do
    sed "s|CANARY|$canary|g" "$1" >> "$folder/config"
    add_hooks "$folder/hooks"
    mkdir -p "$folder/info"
    echo '* filter=x diff=x merge=x' > "$folder/info/attributes"
done
add_hooks "$top/templates/hooks"
sed "s|CANARY|$canary|g" "$1" > "$HOME/.gitconfig"
: > ran
cd work || exit 7

failed=
each() { plain "$@" > ../out 2>&1 || { failed+=" [$*: $? $(tail -c 300 ../out)]"; }; }
any() { plain "$@" > ../out 2>&1; }
on_screen() { script -qec "$*" /dev/null < /dev/null > ../out 2>&1; }
echo d > new; sed -i 5s/5/e/ a; echo f > sub/a
each status
each diff
each diff --stat HEAD~1
each log -p -2
each show HEAD
each grep -n a
each blame a
each add new
each commit -qm four
each stash
each stash pop
each checkout -q -- a
each branch other
each checkout -q side
each merge -q -m m other
each checkout -q main
each -c core.abbrev=8 rebase -q HEAD~1
each tag v2
each worktree add -q ../tree
mv .git/hooks/reference-transaction ../kept
each bisect start HEAD HEAD~1
each bisect reset
mv ../kept .git/hooks/reference-transaction
any bisect start HEAD HEAD~1
each fetch -q origin
each fetch -q --all
each push -q origin main:other
each clone -q "$top/bare.git" ../copy
each clone -q "file://$top/bare.git" ../copy2
each ls-remote origin
each archive --format=tar HEAD
each format-patch --stdout -1
each rev-list --objects HEAD
each cat-file -p HEAD
each ls-files -m
each gc -q
each submodule status
each diff --submodule=diff
end() {
    cd ..
    echo "RAN: $(sort -u ran | tr '\n' ' ')"
    echo "FAILED:$failed"
    exit
}
[ -z "${2-}" ] || end
any am ../out
any archive --format=x HEAD
any x
any merge side
any rebase --abort
any merge --abort
any pull -q origin main
any pull -q --rebase origin main
any submodule update --force
any commit --amend
any commit --allow-empty -S -m signed
any tag -s -m x signed
any log --show-signature -1
any rebase -i HEAD~1
any interpret-trailers --trailer 'x: 1' a
any commit --allow-empty --trailer 'x=1' -m tr
any diff --ext-diff
any cat-file --textconv HEAD:a
any cat-file --filters HEAD:a
any fetch ext::"$canary ext"
any fetch "$top/bare.git" main
any push "$top/bare.git" main:third
any fetch https://127.0.0.1:9/x
any fetch ssh://127.0.0.1:9/x
any fetch git://127.0.0.1:9/x
any fetch strange
any init -q ../fresh
any -C ../fresh commit --allow-empty -m first
any checkout-index -f -a
any hash-object a
any add -A --renormalize
any add -p
any repack -qad
any remote update
any maintenance run --auto
any fsck
any send-email --dry-run HEAD~1
any web--browse http://127.0.0.1:9/
any request-pull HEAD~1 "$top/bare.git"
any range-diff HEAD~1 HEAD HEAD
any notes add -m x
any replace --edit HEAD
any credential fill
any update-ref refs/heads/u HEAD
any symbolic-ref refs/heads/v refs/heads/u
any replace HEAD~1 HEAD
any replace -d HEAD~1
any reflog expire --expire=now --all
any pack-refs --all
any branch -m other renamed
any remote rename origin again
any remote rename again origin
any sparse-checkout set .
any sparse-checkout disable
any read-tree HEAD
any checkout-index -a -f
any stash store -m x HEAD
any rerere
any fetch-pack "$top/bare.git" main
any send-pack "$top/bare.git" main:fourth
any submodule foreach git status
any submodule sync
any submodule deinit -f sub
any submodule update --init
any worktree remove --force ../tree
any merge-tree main side
any tag -d v2
any revert --no-edit HEAD
any revert --abort
any switch -c switched
any restore --source=HEAD~1 a
any bundle create ../b HEAD
any fetch ../b
any fast-export HEAD
any update-server-info
any merge-index git-merge-one-file -a
any difftool -y
any mergetool -y
any help -w log
any help -m log
any --help log
any -C . --help log
any instaweb
any stauts
any for-each-repo --config=maintenance.repo status
any --git-dir="$top/bare.git" log -1
any -C "$top/bare.git" status
any -C sub status
any -C sub diff
any filter-branch -f --tree-filter true HEAD~1..HEAD
any merge-file a a a
any config --edit
any branch --edit-description
any var GIT_EDITOR
on_screen git log
on_screen git -p status
on_screen git add -p
env -u GIT_CONFIG_COUNT git status > ../out 2>&1
printf 'ls:\n\tgit status\n\tgit diff\n' > ../Makefile
make -f ../Makefile > ../out 2>&1
python3 -c 'import subprocess; subprocess.run(["git", "status"])' > ../out 2>&1
sh -c 'git log -p -1; git checkout side' > ../out 2>&1
end
