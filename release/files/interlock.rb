# Written by Interlock's release program: put it into a tap, and `brew install interlock` takes it from there.
class Interlock < Formula
  desc "Safety interlock between an AI agent's intent and the world"
  homepage "<<if .Homepage>><<.Homepage>><<else>>https://downloads.example.com/interlock<<end>>"
  version "<<.Version>>"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "<<.Downloads>>/<<.darwin_arm64.Name>>"
      sha256 "<<.darwin_arm64.Sum>>"
    end
    on_intel do
      url "<<.Downloads>>/<<.darwin_amd64.Name>>"
      sha256 "<<.darwin_amd64.Sum>>"
    end
  end
  on_linux do
    on_arm do
      url "<<.Downloads>>/<<.linux_arm64.Name>>"
      sha256 "<<.linux_arm64.Sum>>"
    end
    on_intel do
      url "<<.Downloads>>/<<.linux_amd64.Name>>"
      sha256 "<<.linux_amd64.Sum>>"
    end
  end

  def install
    bin.install "interlock", "interlock-hook"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/interlock.bash" => "interlock" if File.exist? "completions/interlock.bash"
    zsh_completion.install "completions/_interlock" if File.exist? "completions/_interlock"
    fish_completion.install "completions/interlock.fish" if File.exist? "completions/interlock.fish"
  end

  def caveats
    "Set it up with: interlock setup"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/interlock version")
    assert_match "DENY", shell_output("#{bin}/interlock --home #{testpath} check 'rm -rf /'", 20)
  end
end
